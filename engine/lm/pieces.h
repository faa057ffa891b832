#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lm/flat_map.h"
#include "store/model_file.h"

namespace halfword {

using PieceId = std::uint32_t;

/// SentencePiece writes a space as this character, U+2581.
constexpr std::string_view space_mark = "\xE2\x96\x81";

/// How a model cuts text into pieces.
enum class Segmentation : std::uint32_t { character, bpe, unigram };

/// The vocabulary: the texts of the pieces, how text is cut into them, and which of them begin with given characters.
///
/// It works on escaped text, in which every space, including the one before the query, is a space mark. The results are
/// identical to SentencePiece's.
class Pieces {
 public:
  explicit Pieces(const ModelFile& file);

  std::size_t size() const { return begins_.size() - 1; }
  Segmentation segmentation() const { return segmentation_; }
  PieceId unknown() const { return unknown_; }
  PieceId begin() const { return begin_; }
  PieceId end() const { return end_; }

  /// What a piece adds to a text: its own text, or for a byte piece its byte.
  std::string_view text(PieceId piece) const { return surfaces_[piece]; }

  /// Whether a search may choose the piece; false for the unknown piece and for control pieces.
  bool spells(PieceId piece) const { return !surfaces_[piece].empty(); }

  /// Where a search may choose each piece: bits for anywhere but after a space, and for after a space.
  static constexpr std::uint8_t not_after_space = 1;
  static constexpr std::uint8_t after_space = 2;
  std::span<const std::uint8_t> choices() const { return choices_; }

  /// Whether the piece begins with a space mark.
  bool begins_word(PieceId piece) const { return surfaces_[piece].starts_with(space_mark); }

  /// Whether some pieces are single bytes. A text may then end inside a character.
  bool has_bytes() const { return !bytes_.empty(); }

  /// The size of the longest piece, in bytes.
  std::size_t longest() const { return longest_; }

  /// The best segmentation of `escaped`. A run of characters that no piece spells becomes one unknown piece, or byte
  /// pieces.
  std::vector<PieceId> segment(std::string_view escaped) const;

  /// The `count` best segmentations, best first; only a unigram vocabulary has more than one.
  std::vector<std::vector<PieceId>> segment_best(std::string_view escaped, std::size_t count) const;

  /// Where the last word of a text begins, so that what comes before can be segmented by itself; 0 if it is the first,
  /// or if a piece may reach from one word into the next.
  std::size_t last_word(std::string_view escaped) const {
    const std::size_t found = words_apart_ ? escaped.rfind(space_mark) : std::string_view::npos;
    return found == std::string_view::npos ? 0 : found;
  }

  /// All pieces that begin with `characters` and are longer, sorted by text.
  std::span<const PieceId> beginning_with(std::string_view characters) const;

 private:
  struct Node {
    PieceId piece = FlatMap::absent;
    std::uint32_t first = 0;  // the pieces below this node are sorted_[first … last − 1]
    std::uint32_t last = 0;
  };

  void read_surfaces();
  void build_trie();
  void build_merges();
  std::uint32_t child(std::uint32_t node, char byte) const;
  PieceId find(std::string_view text) const;
  std::vector<PieceId> segment_characters(std::string_view escaped) const;
  std::vector<PieceId> segment_bpe(std::string_view escaped) const;
  std::vector<std::vector<PieceId>> segment_unigram(std::string_view escaped, std::size_t count) const;
  void append_unknown(std::string_view character, std::vector<PieceId>& pieces) const;

  Segmentation segmentation_;
  PieceId unknown_;
  PieceId begin_;
  PieceId end_;
  std::span<const std::uint8_t> texts_;
  std::span<const std::uint32_t> begins_;
  std::span<const float> scores_;
  std::span<const std::uint8_t> kinds_;
  std::vector<std::string> surfaces_;  // empty for pieces that spell nothing
  std::vector<std::uint8_t> choices_;  // by piece
  std::vector<PieceId> bytes_;         // the piece of each byte, if unknown characters are spelled in bytes
  std::vector<PieceId> sorted_;        // by text
  std::vector<Node> nodes_;            // a trie over the texts; node 0 is its root
  FlatMap children_;                   // (node, byte) → node
  FlatMap merges_;                     // (left piece, right piece) → the piece that joins them
  float unknown_score_ = 0.0F;
  bool words_apart_ = false;  // pieces are joined by pairs, and none holds a space mark but at its beginning
  std::size_t longest_ = 0;
};

}  // namespace halfword
