// React: an input of yours with completions from a model in the page.
import { attach, load } from "halfword";
import { useEffect, useRef, useState } from "react";

const model = load("/web.halfword"); // once for the whole page

export function SearchBox({ onSearch }) {
  const input = useRef(null);
  const [query, setQuery] = useState("");
  useEffect(() => {
    const source = { complete: async (...asked) => (await model).complete(...asked) };
    const box = attach(input.current, { source, submit: onSearch });
    return () => box.detach();
  }, [onSearch]);
  return (
    <label>
      Search <input ref={input} value={query} onChange={(event) => setQuery(event.target.value)} />
    </label>
  );
}
