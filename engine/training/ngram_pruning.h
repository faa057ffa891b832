#pragma once

#include "training/kneser_ney.h"
#include "training/ngram_trie.h"
#include "training/workers.h"

namespace halfword {

/// What a memory costs in a model file.
struct MemoryCost {
  double room;     // bytes for all n-grams
  double ngram;    // bytes of one
  double backoff;  // bytes that one more takes if it has children
  bool alone;      // whether it takes them only if it has several
};

/// Keep the n-grams that occur often enough.
void keep_allowed(NgramTrie& trie);

/// Keep those of them whose removal would cost the most, and their prefixes, as far as there is room. It is what
/// `keep_most` of `src/halfword/training/ngram.py` chooses.
void keep_most(NgramTrie& trie, Losses losses, const MemoryCost& cost, const Workers& workers);

}  // namespace halfword
