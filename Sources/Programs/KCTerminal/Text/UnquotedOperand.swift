internal import KCByteStreams
internal import KCReportText

/// Returns a name as an operand of a command within a hint; empty if it needs quotes of the shell, which would end those
/// around the hint.
package func unquotedOperand(_ name: String) -> String {
    let word: String = shellWord(name)
    return name.isEmpty || word.exact.contains("'") ? "" : " \(word)"
}
