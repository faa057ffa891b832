// The engine for a page: plain functions over numbers and bytes, which js/src/engine.js calls. One instance of the
// WebAssembly module holds one model. It is built without the handling of exceptions. Texts are UTF-8 in memory that
// `halfword_allocate` gave.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "completer.h"
#include "lm/kernels/kernels.h"
#include "rank/features.h"
#include "rank/policy_fields.h"
#include "store/checksum.h"
#include "store/model_file.h"

namespace halfword {
namespace {

/// The options of a search as numbers, in the order in which `halfword_option_names` lists them.
enum Option {
  count,
  beam,
  retrace,
  segmentations,
  max_pieces,
  merge,
  prune,
  conditional,
  echo,
  fold,
  typos,
  any_order,
  haste,
  adapt,
  min_probability,
  invent,
  deadline_ms,
  options_size
};
constexpr const char* option_names =
    "count beam retrace segmentations max_pieces merge prune conditional echo fold typos any_order haste adapt "
    "min_probability "
    "invent deadline_ms";

/// What the page has given before it opens the model, the model, and the last answer.
struct Instance {
  std::map<std::string, ArrayPlace> places;
  Policy policy;
  std::unique_ptr<ModelFile> file;
  std::unique_ptr<Completer> completer;
  double options[options_size];
  Answer answer;
  std::string texts;            // of the answer: text and display of each completion, one after the other
  std::vector<double> numbers;  // score, source, corrected, bytes matched, bytes of the text, bytes of the display
  std::string error;
};

Instance& instance() {
  static Instance only;
  return only;
}

std::size_t whole(Option option) { return static_cast<std::size_t>(instance().options[option]); }

bool flag(Option option) { return instance().options[option] != 0.0; }

SearchOptions search_options() {
  const double* given = instance().options;
  SearchOptions options;
  options.count = whole(count);
  options.beam = whole(beam);
  options.retrace = whole(retrace);
  options.segmentations = whole(segmentations);
  options.max_pieces = whole(max_pieces);
  options.merge = flag(merge);
  options.prune = flag(prune);
  options.conditional = flag(conditional);
  options.echo = flag(echo);
  options.fold = flag(fold);
  options.typos = flag(typos);
  options.any_order = flag(any_order);
  options.haste = given[haste];
  options.adapt = flag(adapt);
  options.min_probability = given[min_probability];
  options.invent = static_cast<Invent>(static_cast<int>(given[invent]));
  options.deadline_ms = given[deadline_ms];
  return options;
}

/// The lines of a text: the earlier queries, the oldest first, and what was typed last.
Request request_of(std::string_view lines) {
  Request request{"", search_options()};
  for (std::size_t end = lines.find('\n'); end != std::string_view::npos; end = lines.find('\n')) {
    request.context.emplace_back(lines.substr(0, end));
    lines.remove_prefix(end + 1);
  }
  request.typed = lines;
  return request;
}

void write_answer() {
  Instance& self = instance();
  self.texts.clear();
  self.numbers.clear();
  for (const Completion& each : self.answer.completions) {
    const std::string& display = each.display.empty() ? each.text : each.display;
    self.texts.append(each.text).append(display);
    for (const double number :
         {each.score, static_cast<double>(each.source), each.corrected ? 1.0 : 0.0, static_cast<double>(each.matched),
          static_cast<double>(each.text.size()), static_cast<double>(display.size())}) {
      self.numbers.push_back(number);
    }
  }
}

}  // namespace
}  // namespace halfword

using halfword::instance;

extern "C" {

void* halfword_allocate(std::size_t size) { return std::malloc(size); }
void halfword_release(void* memory) { std::free(memory); }

/// The names of the options, and of the ranker's features, separated by spaces.
const char* halfword_option_names() { return halfword::option_names; }
const char* halfword_feature_names() {
  static const std::string names = [] {
    std::string joined;
    for (const auto& name : halfword::feature_names) joined.append(joined.empty() ? "" : " ").append(name);
    return joined;
  }();
  return names.c_str();
}

double* halfword_options() { return instance().options; }

std::uint32_t halfword_crc32(const std::byte* bytes, std::size_t size) { return halfword::crc32({bytes, size}); }

/// The digest of a header in which the entry of the digest is blank.
const char* halfword_digest(const std::byte* header, std::size_t size) {
  static std::string digest;
  digest = halfword::digest_of({header, size});
  return digest.c_str();
}

/// Say where an array lies in the file.
void halfword_add_array(const char* name, const char* dtype, std::size_t begin, std::size_t end) {
  instance().places.insert_or_assign(name, halfword::ArrayPlace{dtype, begin, end});
}

/// Set a number of the policy; 0 if there is none of this name.
int halfword_set_policy(const char* name, double value) {
  for (const halfword::PolicyField& field : halfword::policy_fields) {
    if (std::strcmp(field.name, name) != 0) continue;
    instance().policy.*field.value = value;
    return 1;
  }
  return 0;
}

/// Open the model whose bytes lie here. The bytes must stay. Nothing is predicted in advance: the first key comes
/// sooner, and a page has little memory.
void halfword_open(const std::byte* bytes, std::size_t size, int popular, int memory, int network, const char* kernels,
                   std::size_t states, std::size_t answers) {
  halfword::Instance& self = instance();
  self.file = std::make_unique<halfword::ModelFile>("the model", self.places, std::span(bytes, size));
  const halfword::Settings settings{popular != 0, memory != 0,         network != 0, halfword::Precision::int8,
                                    kernels,      {states, answers, 0}};
  self.completer = std::make_unique<halfword::Completer>(*self.file, self.policy, settings);
}

/// What was thrown.
const char* halfword_error() { return instance().error.c_str(); }
const char* halfword_kernels() { return halfword::kernels_named("").name; }

/// Complete the last line of a text; the lines before it are the context. Returns how many completions there are.
std::size_t halfword_complete(const char* lines, std::size_t size) {
  halfword::Instance& self = instance();
  self.answer = self.completer->complete(halfword::request_of({lines, size}));
  halfword::write_answer();
  return self.answer.completions.size();
}

const char* halfword_answer_texts() { return instance().texts.data(); }
const double* halfword_answer_numbers() { return instance().numbers.data(); }
int halfword_answer_timed_out() { return instance().answer.timed_out ? 1 : 0; }

/// JavaScript that throws an error of its own: what the engine throws ends here, and the instance is not used again.
[[noreturn]] void halfword_thrown() __attribute__((import_module("env"), import_name("halfword_thrown")));

void* __cxa_allocate_exception(std::size_t size) noexcept { return std::malloc(size); }

/// Every exception of the engine descends from std::exception alone, which is where its object begins.
[[noreturn]] void __cxa_throw(void* thrown, void*, void (*)(void*)) {
  instance().error = static_cast<const std::exception*>(thrown)->what();
  halfword_thrown();
}
}
