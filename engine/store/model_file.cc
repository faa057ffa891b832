#include "store/model_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace halfword {
namespace {

/// Map a whole file. The descriptor is closed; the mapping stays valid.
std::span<const std::byte> map_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw ModelFileError(path + ": " + std::strerror(errno));
  struct stat status{};
  const bool known = ::fstat(descriptor, &status) == 0 && status.st_size > 0;
  const auto size = known ? static_cast<std::size_t>(status.st_size) : 0;
  void* address = known ? ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0) : MAP_FAILED;
  ::close(descriptor);
  if (address == MAP_FAILED) throw ModelFileError(path + ": cannot be mapped into memory");
  return {static_cast<const std::byte*>(address), size};
}

}  // namespace

ModelFile::ModelFile(const std::string& path, std::map<std::string, ArrayPlace> places)
    : path_(path), places_(std::move(places)), bytes_(map_file(path)), is_mapped_(true) {}

ModelFile::ModelFile(std::string name, std::map<std::string, ArrayPlace> places, std::span<const std::byte> bytes)
    : path_(std::move(name)), places_(std::move(places)), bytes_(bytes), is_mapped_(false) {}

ModelFile::~ModelFile() {
  if (is_mapped_) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void ModelFile::leave(const std::string& beginning) const {
  if (!is_mapped_) return;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (const auto& [name, place] : places_) {
    if (!name.starts_with(beginning) || place.begin > place.end || place.end > bytes_.size()) continue;
    const std::size_t first = (place.begin + page - 1) / page * page;  // pages at both ends may hold other arrays
    const std::size_t last = place.end / page * page;
    if (first < last) ::madvise(const_cast<std::byte*>(bytes_.data()) + first, last - first, MADV_DONTNEED);
  }
}

std::span<const std::byte> ModelFile::find(const std::string& name, const std::string& dtype,
                                           std::size_t alignment) const {
  const auto found = places_.find(name);
  if (found == places_.end()) throw ModelFileError(path_ + ": the array " + name + " is missing");
  const ArrayPlace& place = found->second;
  if (place.dtype != dtype) {
    throw ModelFileError(path_ + ": the array " + name + " is " + place.dtype + ", expected " + dtype);
  }
  if (place.begin > place.end || place.end > bytes_.size()) {
    throw ModelFileError(path_ + ": the array " + name + " reaches beyond the end of the file");
  }
  // Arrays begin at multiples of eight, so a type of up to eight bytes can be read in place.
  if (place.begin % alignment != 0 || (place.end - place.begin) % alignment != 0) {
    throw ModelFileError(path_ + ": the array " + name + " is not aligned");
  }
  return bytes_.subspan(place.begin, place.end - place.begin);
}

}  // namespace halfword
