/// Returns the first names of items that could not be read, to follow how many there are; empty if none has a name.
///
/// - Parameter names: those that have names, as messages show them.
func unreadWords(_ names: [String], of count: Int) -> String {
    // A message has room for some names.
    let named = names.prefix(3)
    if named.isEmpty { return "" }
    let others = count - named.count
    return ": " + named.joined(separator: ", ") + (others > 0 ? " and \(others) more" : "")
}

/// Returns the hint how a backup of the home is whole without what stays in its place by a rule.
///
/// - Parameter job: the job that makes the backup, if it is one.
func acceptingMissing(job: String?) -> String {
    let command = job.map { "kcbackup schedule edit \($0) " } ?? ""
    return "'\(command)\(OptionName.acceptMissing.spelling) PATH' is for a file or link that is left, and not needed"
}
