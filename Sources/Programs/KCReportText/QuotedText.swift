internal import KCByteStreams
internal import KCKeychainModel

/// Returns foreign text, escaped and in quotation marks.
package func quoted(_ text: String) -> String {
    "'" + displayed(text, limit: 200) + "'"
}

/// Returns an escaped path, without quotation marks.
package func displayedPath(_ path: String) -> String {
    displayed(path, limit: 1_000)
}

/// Returns a path or name as one word of a shell command that the user may paste; printing it is safe.
package func shellWord(_ text: String) -> String {
    // As an option, a file name would change what the command does.
    let text = text.exact.hasPrefix("-") ? "./" + text : text
    // `displayed` also doubles backslashes, which are harmless.
    let others = text.exact.replacing("\\", with: "/")
    if displayed(others, limit: .max).exact == others.exact { return Quoted.shellWord(text) }
    // A name that no file has is better than the name of another file.
    return Quoted.computedShellWord(text) ?? Quoted.shellWord(displayedPath(text))
}
