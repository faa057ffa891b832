import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.apache.lucene.analysis.core.KeywordAnalyzer;
import org.apache.lucene.search.suggest.InputIterator;
import org.apache.lucene.search.suggest.Lookup;
import org.apache.lucene.search.suggest.analyzing.FuzzySuggester;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.BytesRef;

/**
 * Lucene's FuzzySuggester for `rivals.py`. Arguments: a file of `query TAB count`, a folder for temporary files, and the
 * number of edits. Each line of the input is a prefix; its answer is `nanoseconds TAB completion TAB completion ...`.
 */
public class LuceneFuzzy {
  private static final int ANSWERS = 10;
  private static final int BUFFERED = 1 << 16;

  /** The queries of a file and their counts. */
  private record Queries(Iterator<String> lines, long[] count) implements InputIterator {
    @Override
    public BytesRef next() {
      if (!lines.hasNext()) return null;
      String[] fields = lines.next().split("\t");
      count[0] = Long.parseLong(fields[1]);
      return new BytesRef(fields[0]);
    }

    @Override
    public long weight() {
      return count[0];
    }

    @Override
    public BytesRef payload() {
      return null;
    }

    @Override
    public boolean hasPayloads() {
      return false;
    }

    @Override
    public Set<BytesRef> contexts() {
      return null;
    }

    @Override
    public boolean hasContexts() {
      return false;
    }
  }

  public static void main(String[] arguments) throws IOException {
    KeywordAnalyzer whole = new KeywordAnalyzer();
    FSDirectory folder = FSDirectory.open(Path.of(arguments[1]));
    FuzzySuggester suggester =
        new FuzzySuggester(
            folder,
            "fuzzy",
            whole,
            whole,
            FuzzySuggester.EXACT_FIRST | FuzzySuggester.PRESERVE_SEP,
            256,
            -1,
            true,
            Integer.parseInt(arguments[2]),
            FuzzySuggester.DEFAULT_TRANSPOSITIONS,
            FuzzySuggester.DEFAULT_NON_FUZZY_PREFIX,
            FuzzySuggester.DEFAULT_MIN_FUZZY_LENGTH,
            true); // edits are counted in characters, not in bytes
    try (var lines = Files.lines(Path.of(arguments[0]))) {
      suggester.build(new Queries(lines.iterator(), new long[1]));
    }
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), BUFFERED);
    PrintStream output = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    for (String prefix = input.readLine(); prefix != null; prefix = input.readLine()) {
      long begin = System.nanoTime();
      List<Lookup.LookupResult> found = suggester.lookup(prefix, false, ANSWERS);
      List<String> answer = new ArrayList<>(List.of(Long.toString(System.nanoTime() - begin)));
      for (Lookup.LookupResult each : found) answer.add(each.key.toString());
      output.println(String.join("\t", answer));
    }
  }
}
