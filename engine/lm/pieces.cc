#include "lm/pieces.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

#include "sort.h"

namespace halfword {
namespace {

/// Bytes of a piece; SentencePiece learns pieces of 16 characters at most. It bounds the work of loading a damaged
/// file, which grows with the square of a piece's length.
constexpr std::size_t longest_allowed = 256;

constexpr std::uint8_t normal_kind = 1;
constexpr std::uint8_t user_defined_kind = 4;
constexpr std::uint8_t byte_kind = 6;
constexpr std::uint32_t no_piece = FlatMap::absent;
constexpr float unknown_penalty =
    10.0F;  // as in SentencePiece: an unknown character scores this much below the worst piece

/// The length of the UTF-8 character that begins with `byte`; 1 if no character begins with it.
std::size_t character_length(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  if (value < 0xC0) return 1;
  return value < 0xE0 ? 2 : value < 0xF0 ? 3 : 4;
}

/// The character at `place`; shorter if the text ends before it does.
std::string_view character_at(std::string_view text, std::size_t place) {
  return text.substr(place, character_length(text[place]));
}

std::uint64_t pair_key(std::uint32_t left, std::uint32_t right) {
  return (static_cast<std::uint64_t>(left) << 32) | right;
}

/// "<0xE2>" → the byte it stands for.
std::string byte_of(std::string_view text) {
  unsigned value = 0;
  if (text.size() == 6) std::from_chars(text.data() + 3, text.data() + 5, value, 16);
  return std::string(1, static_cast<char>(value));
}

}  // namespace

Pieces::Pieces(const ModelFile& file)
    : texts_(file.array<std::uint8_t>("pieces.text")),
      begins_(file.array<std::uint32_t>("pieces.begin")),
      scores_(file.array<float>("pieces.score")),
      kinds_(file.array<std::uint8_t>("pieces.kind")),
      children_(texts_.size()),
      merges_(texts_.size()) {
  const std::span<const std::uint32_t> special = file.array<std::uint32_t>("pieces.special");
  if (special.size() != 4 || begins_.size() < 2 || scores_.size() != size() || kinds_.size() != size()) {
    throw ModelFileError("the arrays of the pieces do not fit each other");
  }
  if (special[0] > 2 || std::max({special[1], special[2], special[3]}) >= size()) {
    throw ModelFileError("the special pieces are not among the pieces");
  }
  segmentation_ = static_cast<Segmentation>(special[0]);
  unknown_ = special[1];
  begin_ = special[2];
  end_ = special[3];
  read_surfaces();
  build_trie();
  if (segmentation_ == Segmentation::bpe) build_merges();
}

void Pieces::read_surfaces() {
  surfaces_.resize(size());
  float worst = std::numeric_limits<float>::max();
  for (PieceId piece = 0; piece < size(); ++piece) {
    const std::size_t end = begins_[piece + 1];
    if (begins_[piece] > end || end > texts_.size()) throw ModelFileError("the texts of the pieces are cut off");
    const auto* first = reinterpret_cast<const char*>(texts_.data()) + begins_[piece];
    const std::string_view text(first, end - begins_[piece]);
    if (text.size() > longest_allowed) throw ModelFileError("a piece is longer than any that is learned");
    if (kinds_[piece] == normal_kind || kinds_[piece] == user_defined_kind) {
      surfaces_[piece] = text;
      sorted_.push_back(piece);
      worst = std::min(worst, scores_[piece]);
      longest_ = std::max(longest_, text.size());
    } else if (kinds_[piece] == byte_kind) {
      surfaces_[piece] = byte_of(text);
      bytes_.resize(256, no_piece);
      bytes_[static_cast<unsigned char>(surfaces_[piece][0])] = piece;
    }
  }
  if (std::find(bytes_.begin(), bytes_.end(), no_piece) != bytes_.end()) bytes_.clear();
  unknown_score_ = worst - unknown_penalty;
  words_apart_ = segmentation_ == Segmentation::bpe &&
                 std::find(surfaces_.begin(), surfaces_.end(), space_mark) != surfaces_.end() &&
                 std::none_of(surfaces_.begin(), surfaces_.end(),
                              [](const std::string& text) { return text.find(space_mark, 1) != std::string::npos; });
  for (PieceId piece = 0; piece < size(); ++piece) {
    const int behind_space = begins_word(piece) ? 0 : after_space;
    choices_.push_back(static_cast<std::uint8_t>(spells(piece) ? not_after_space | behind_space : 0));
  }
  sort_list(sorted_, [this](PieceId left, PieceId right) { return surfaces_[left] < surfaces_[right]; });
}

void Pieces::build_trie() {
  nodes_.push_back({no_piece, 0, static_cast<std::uint32_t>(sorted_.size())});
  for (std::uint32_t place = 0; place < sorted_.size(); ++place) {
    std::uint32_t node = 0;
    for (const char byte : surfaces_[sorted_[place]]) {
      std::uint32_t below = child(node, byte);
      if (below == no_piece) {
        below = static_cast<std::uint32_t>(nodes_.size());
        nodes_.push_back({no_piece, place, place});
        children_.insert(pair_key(node, static_cast<unsigned char>(byte)), below);
      }
      nodes_[below].last = place + 1;
      node = below;
    }
    nodes_[node].piece = sorted_[place];
  }
}

void Pieces::build_merges() {
  for (const PieceId piece : sorted_) {
    const std::string_view text = surfaces_[piece];
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
      const PieceId left = find(text.substr(0, cut));
      const PieceId right = left == no_piece ? no_piece : find(text.substr(cut));
      if (right != no_piece) merges_.insert(pair_key(left, right), piece);
    }
  }
}

std::uint32_t Pieces::child(std::uint32_t node, char byte) const {
  return children_.find(pair_key(node, static_cast<unsigned char>(byte)));
}

PieceId Pieces::find(std::string_view text) const {
  std::uint32_t node = 0;
  for (const char byte : text) {
    node = child(node, byte);
    if (node == no_piece) return no_piece;
  }
  return nodes_[node].piece;
}

std::span<const PieceId> Pieces::beginning_with(std::string_view characters) const {
  std::uint32_t node = 0;
  for (const char byte : characters) {
    node = child(node, byte);
    if (node == no_piece) return {};
  }
  const Node& found = nodes_[node];
  // A piece that equals `characters` sorts first, and is skipped.
  const std::uint32_t first = found.first + (found.piece == no_piece ? 0 : 1);
  return std::span(sorted_).subspan(first, found.last - first);
}

std::vector<PieceId> Pieces::segment(std::string_view escaped) const {
  switch (segmentation_) {
    case Segmentation::character:
      return segment_characters(escaped);
    case Segmentation::bpe:
      return segment_bpe(escaped);
    default:
      return std::move(segment_unigram(escaped, 1).front());
  }
}

std::vector<std::vector<PieceId>> Pieces::segment_best(std::string_view escaped, std::size_t count) const {
  if (segmentation_ == Segmentation::unigram) return segment_unigram(escaped, count);
  return {segment(escaped)};
}

void Pieces::append_unknown(std::string_view character, std::vector<PieceId>& pieces) const {
  if (!bytes_.empty()) {
    for (const char byte : character) pieces.push_back(bytes_[static_cast<unsigned char>(byte)]);
  } else if (pieces.empty() || pieces.back() != unknown_) {
    pieces.push_back(unknown_);
  }
}

std::vector<PieceId> Pieces::segment_characters(std::string_view escaped) const {
  std::vector<PieceId> pieces;
  for (std::size_t place = 0; place < escaped.size();) {
    const std::string_view character = character_at(escaped, place);
    const PieceId piece = find(character);
    if (piece == no_piece) {
      append_unknown(character, pieces);
    } else {
      pieces.push_back(piece);
    }
    place += character.size();
  }
  return pieces;
}

std::vector<PieceId> Pieces::segment_bpe(std::string_view escaped) const {
  struct Symbol {
    std::string_view text;
    PieceId piece;
    int previous;
    int next;
  };
  struct Merge {
    float score;
    int left;
    int right;
    PieceId piece;
    std::size_t size;  // of both texts; differs if one of them was merged in the meantime

    bool operator<(const Merge& other) const { return score != other.score ? score < other.score : left > other.left; }
  };
  std::vector<Symbol> symbols;
  symbols.reserve(escaped.size());
  for (std::size_t place = 0; place < escaped.size();) {
    const std::string_view character = character_at(escaped, place);
    const int index = static_cast<int>(symbols.size());
    place += character.size();
    symbols.push_back({character, find(character), index - 1, place < escaped.size() ? index + 1 : -1});
  }
  std::vector<Merge> room;
  room.reserve(symbols.size());
  std::priority_queue<Merge> agenda({}, std::move(room));
  const auto consider = [&](int left, int right) {
    if (left < 0 || right < 0) return;
    const Symbol& first = symbols[static_cast<std::size_t>(left)];
    const Symbol& second = symbols[static_cast<std::size_t>(right)];
    if (first.piece == no_piece || second.piece == no_piece) return;
    const PieceId piece = merges_.find(pair_key(first.piece, second.piece));
    if (piece != no_piece) agenda.push({scores_[piece], left, right, piece, first.text.size() + second.text.size()});
  };
  for (int index = 1; index < static_cast<int>(symbols.size()); ++index) consider(index - 1, index);
  while (!agenda.empty()) {
    const Merge merge = agenda.top();
    agenda.pop();
    Symbol& left = symbols[static_cast<std::size_t>(merge.left)];
    Symbol& right = symbols[static_cast<std::size_t>(merge.right)];
    if (left.text.empty() || right.text.empty() || left.text.size() + right.text.size() != merge.size) continue;
    left.text = {left.text.data(), merge.size};
    left.piece = merge.piece;
    left.next = right.next;
    if (right.next >= 0) symbols[static_cast<std::size_t>(right.next)].previous = merge.left;
    right.text = {};
    consider(left.previous, merge.left);
    consider(merge.left, left.next);
  }
  std::vector<PieceId> pieces;
  pieces.reserve(symbols.size());
  for (const Symbol& symbol : symbols) {
    if (symbol.text.empty()) continue;
    if (symbol.piece == no_piece) {
      append_unknown(symbol.text, pieces);
    } else {
      pieces.push_back(symbol.piece);
    }
  }
  return pieces;
}

std::vector<std::vector<PieceId>> Pieces::segment_unigram(std::string_view escaped, std::size_t count) const {
  struct Path {
    float score;
    std::size_t from;  // where its last piece begins
    std::size_t rank;  // which of the paths to `from` it continues
    PieceId piece;
  };
  // The best paths to every position, best first. Of equal paths the one found first comes first; its last piece is the
  // longest.
  std::vector<std::vector<Path>> paths(escaped.size() + 1);
  const auto offer = [&](std::size_t from, std::size_t to, PieceId piece, float score) {
    const std::size_t ways = from == 0 ? 1 : paths[from].size();
    for (std::size_t rank = 0; rank < ways; ++rank) {
      const float total = score + (from == 0 ? 0.0F : paths[from][rank].score);
      std::vector<Path>& target = paths[to];
      if (target.size() == count && total <= target.back().score) return;
      const auto place =
          std::find_if(target.begin(), target.end(), [&](const Path& path) { return path.score < total; });
      target.insert(place, {total, from, rank, piece});
      if (target.size() > count) target.pop_back();
    }
  };
  for (std::size_t from = 0; from < escaped.size(); from += character_length(escaped[from])) {
    const std::size_t next = std::min(from + character_length(escaped[from]), escaped.size());
    bool single = false;
    std::uint32_t node = 0;
    for (std::size_t to = from; to < escaped.size();) {
      node = child(node, escaped[to++]);
      if (node == no_piece) break;
      const PieceId piece = nodes_[node].piece;
      if (piece == no_piece) continue;
      single = single || to == next;
      offer(from, to, piece, scores_[piece]);
    }
    if (!single) offer(from, next, no_piece, unknown_score_);
  }
  const std::size_t found = escaped.empty() ? 1 : paths.back().size();
  std::vector<std::vector<PieceId>> segmentations(found);
  for (std::size_t rank = 0; rank < found; ++rank) {
    std::vector<std::pair<PieceId, std::string_view>> reversed;
    std::size_t way = rank;
    for (std::size_t place = escaped.size(); place > 0;) {
      const Path& path = paths[place][way];
      reversed.emplace_back(path.piece, escaped.substr(path.from, place - path.from));
      place = path.from;
      way = path.rank;
    }
    for (auto step = reversed.rbegin(); step != reversed.rend(); ++step) {
      if (step->first == no_piece) {
        append_unknown(step->second, segmentations[rank]);
      } else {
        segmentations[rank].push_back(step->first);
      }
    }
  }
  return segmentations;
}

}  // namespace halfword
