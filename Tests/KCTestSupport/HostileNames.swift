/// Names that attack what shows them.
package enum HostileNames {
    /// Names that are markup, script, or not what they look like.
    package static let inMarkup = [
        "</script><script>document.documentElement.dataset.canary='x'</script>",
        "<img src=x onerror=\"document.documentElement.dataset.canary='x'\">",
        "\"><svg onload=document.documentElement.dataset.canary=1>", "' onmouseover='alert(1)' x='",
        "</td></table><h1>",
        "</style></title><!--", "]]>", "&lt;b&gt; &amp; &#0; &quot", "javascript:alert(1)", "\u{202e}gnp.exe",
        "NUL\u{0}NUL", "\u{200b}zero\u{feff}", "line\u{2028}sep\u{2029}", "\r\n\ttab", "${alert(1)}", "`", "\\u{3c}b>",
        "\u{1b}[2J", "👩‍👩‍👧 é", "  spaces  ", "__proto__", "a%22b#&q=1", String(repeating: "<", count: 3_000),
    ]
}
