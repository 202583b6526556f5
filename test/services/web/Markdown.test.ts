import { assert, describe, it } from "@effect/vitest"
import { toMarkdown } from "../../../src/services/web/Markdown.ts"

const base = new URL("https://example.com/docs/page.html")
const read = (html: string) => toMarkdown(html, base).text

/** What a piece of a page reads like. */
const table: ReadonlyArray<readonly [name: string, html: string, text: string]> = [
  ["headings and paragraphs", "<h1>One</h1><p>a\n  b</p><p>c</p><h3>Two</h3>d", "# One\n\na b\n\nc\n\n### Two\n\nd"],
  ["line breaks", "a<br>b<br/>c", "a\nb\nc"],
  ["emphasis", "<b>bold</b> and <em> soft </em>x <del>no</del>", "**bold** and *soft* x ~~no~~"],
  ["empty marks", "a <b></b><i> </i>b", "a b"],
  ["code with backticks", "<code>a`b</code> <code>c</code>", "`` a`b `` `c`"],
  ["links, made absolute", `<a href="../x?a=1&amp;b=2">go</a>`, "[go](https://example.com/x?a=1&b=2)"],
  [
    "links to nowhere",
    `<a href="#top">a</a> <a href="javascript:x()">b</a> <a>c</a> <a href="data:x,y">d</a>`,
    "a b c d"
  ],
  ["the base of a page", `<base href="https://other.org/d/"><a href="x">y</a>`, "[y](https://other.org/d/x)"],
  [
    "a link around blocks",
    `<a href="/c"><h3>T</h3><p>D</p></a>`,
    "### [T](https://example.com/c)\n\n[D](https://example.com/c)"
  ],
  [
    "pictures by their words",
    `<img src="p.png" alt="A cat"> <img src="x.gif"> <a href="/y"><img src="z" alt="logo"></a>`,
    "![A cat](https://example.com/docs/p.png) [logo](https://example.com/y)"
  ],
  ["lists in lists", "<ul><li>a<ol start=3><li>x<li>y</ol></li><li>b</ul>after", "- a\n  3. x\n  4. y\n- b\n\nafter"],
  ["paragraphs in lists", "<ul><li><p>a</p><p>b</p></li><li><p>c</p></li></ul>", "- a\n\n  b\n- c"],
  ["quotations", "<p>x</p><blockquote><p>a</p><ul><li>b</ul></blockquote><p>y</p>", "x\n\n> a\n>\n> - b\n\ny"],
  [
    "code",
    `<pre><code class="hl language-ts">if (a &lt; b) {\n  c\n}\n</code></pre>`,
    "```ts\nif (a < b) {\n  c\n}\n```"
  ],
  ["code with a fence in it", "<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"],
  ["code in a list", "<ol><li>Do<pre>a\n b</pre></li></ol>", "1. Do\n\n   ```\n   a\n    b\n   ```"],
  [
    "tables",
    "<table><tr><th>A<th>B</tr><tr><td>1|2<td>x<br>y</tr></table>",
    "| A | B |\n| --- | --- |\n| 1\\|2 | x y |"
  ],
  ["tables with uneven rows", "<table><tr><td>a<td>b<tr><td>c</table>", "| a | b |\n| --- | --- |\n| c |  |"],
  ["tables of one column", "<table><tr><td>a<tr><td>b</table>", "a\n\nb"],
  [
    "tables that lay out a page",
    "<table><tr><td>Menu<td><table><tr><td>a<td>b</table></table>",
    "Menu\n\n| a | b |\n| --- | --- |"
  ],
  [
    "lists and code in a cell",
    "<table><tr><td><ul><li>a<li>b</ul><td><pre>c\nd</pre></table>",
    "| a b | c d |\n| --- | --- |"
  ],
  ["definitions", "<dl><dt>T<dd>D</dl>", "T\n\nD"],
  [
    "entities",
    "&lt;p&gt; &amp;amp; &eacute;&#233;&#xe9; &euro;&#128; &hellip; &nosuch; &copy &#0;",
    "<p> &amp; ééé €€ … &nosuch; &copy \u{fffd}"
  ],
  [
    "scripts, styles and comments left out",
    `a<script>if (a < b) "</p>"</script><style>p{}</style><!-- <p>x</p> --><!doctype x><?php y ?>b`,
    "ab"
  ],
  [
    "what a browser draws left out",
    "a<svg><title>t</title><text>x</text></svg><noscript>y</noscript><select><option>z</select><template>w</template>b",
    "ab"
  ],
  [
    "hidden blocks left out",
    `a<div hidden><div>x</div>y</div><p hidden>p</p><span style="display: none">z</span>b`,
    "a\n\np\n\nb"
  ],
  ["stray signs", "a < b <3 c </ d> & e <", "a < b <3 c & e <"],
  ["unclosed tags", "<p>a<b>b<p>c<a href=x", "a**b**\n\n**c**"],
  ["attributes of every kind", `<a title='>' data-x href=y>z</a>`, "[z](https://example.com/docs/y)"],
  ["capitals", "<P>a</P><A HREF='/b'>c</A>", "a\n\n[c](https://example.com/b)"],
  ["nothing", "", ""]
]

describe("a page as Markdown", () => {
  for (const [name, html, text] of table) {
    it(`reads well: ${name}`, () => {
      assert.strictEqual(read(html), text)
    })
  }

  it("has the title of the page and not of a drawing", () => {
    const { text, title } = toMarkdown("<svg><title>No</title></svg><title>A &amp;\n B</title><body>x", base)
    assert.deepStrictEqual([title, text], ["A & B", "x"])
    assert.isUndefined(toMarkdown("<title> </title>x", base).title)
  })

  it("takes a page that means harm in time that grows with its length", { timeout: 20_000 }, () => {
    const harmful = [
      "<div>",
      "<",
      "<a href='x'>y",
      `<a b="`,
      "<ul><li>",
      "<table><tr><td>",
      "<b><i>x",
      "<a b= ",
      "<!--",
      "<pre>`",
      "<script>",
      "<title>",
      "&",
      "<br>",
      "<blockquote>",
      "<td>x",
      "</p",
      " \n",
      "`<code>"
    ]
    for (const piece of harmful) {
      const time = (size: number): number => {
        const html = piece.repeat(Math.ceil(size / piece.length))
        const start = performance.now()
        read(html)
        return performance.now() - start
      }
      time(100_000)
      const [small, large] = [time(200_000), time(800_000)]
      assert.isBelow(large, 12 * small + 250, piece)
    }
  })
})
