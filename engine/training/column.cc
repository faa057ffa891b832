#include "training/column.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <system_error>

namespace halfword {
namespace {

constexpr std::size_t huge_from = std::size_t{1} << 22;  // bytes; smaller arrays gain nothing from huge pages

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

/// A file that has no name any more, of the size asked for. The room is taken at once: a full disk is an error here,
/// not a signal at the first write.
int open_unnamed(const std::string& folder, std::size_t bytes) {
  std::string path = folder + "/column-XXXXXX";
  const int file = ::mkstemp(path.data());
  if (file < 0) fail(errno, folder);
  ::unlink(path.c_str());
  int error = EINTR;
  while (error == EINTR) error = ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
  if (error != 0) {
    ::close(file);
    fail(error, folder);
  }
  return file;
}

}  // namespace

void* Scratch::map(std::size_t bytes) const {
  if (bytes == 0) return nullptr;
  const int file = in_files() ? open_unnamed(folder_, bytes) : -1;
  const int flags = in_files() ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  if (file >= 0) ::close(file);
  if (data == MAP_FAILED) throw std::bad_alloc();
  if (!in_files() && bytes >= huge_from) ::madvise(data, bytes, MADV_HUGEPAGE);
  return data;
}

void unmap(void* data, std::size_t bytes) { ::munmap(data, bytes); }

void forget_pages(const void* first, const void* last) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(first) + page - 1) / page * page;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(last) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace halfword
