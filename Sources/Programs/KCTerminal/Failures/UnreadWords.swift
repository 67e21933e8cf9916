internal import KCReportText

/// Returns the first names of items that could not be read, to follow how many there are; empty if none has a name.
///
/// - Parameter names: those that have names, as messages show them.
package func unreadWords(_ names: [String], of count: Int) -> String {
    // A message has room for some names.
    let named = names.prefix(3)
    if named.isEmpty { return "" }
    let others = count - named.count
    return ": " + named.joined(separator: ", ") + (others > 0 ? " and \(others) more" : "")
}

/// Says how many items a new archive lacks; the archive itself has only their number.
///
/// - Parameter left: how many of them a rule leaves in their place, which are no less readable for that.
package func unreadWords(_ count: Int, left: Int) -> String {
    let items = counted(count, "item")
    if left == 0 { return items + " could not be read" }
    return "\(items) \(count == 1 ? "was" : "were") left out" + (left < count ? ", or not readable" : "")
}

/// Returns the hint how a backup of the home is whole without what stays in its place by a rule.
///
/// - Parameters:
///   - job: the job that makes the backup, if it is one.
///   - path: what stays, if it is known.
package func acceptingMissing(job: String?, path: String? = nil) -> String {
    let option = "\(OptionName.acceptMissing.spelling) \(path.map { shellWordOfHome($0) } ?? "PATH")"
    let command = job.map { "run 'kcbackup schedule edit \($0) \(option)'" } ?? "add '\(option)'"
    return "if you do not need it, \(command)"
}
