internal import KCByteStreams
internal import KCConsole
internal import KCHomeFiles

extension Machine {
    /// Returns a path that does not depend on the working folder; an empty one, which names nothing, stays empty.
    package func absolute(_ path: String) -> String {
        if path.isEmpty { return path }
        let resolved = resolve(path)
        if resolved.exact.hasPrefix("/") { return resolved }
        return (ProcessEnvironment.workingFolder ?? "") + "/" + resolved
    }

    /// Returns a path that does not depend on the working folder; '~' is the home, as messages write it.
    package func absolute(inHome path: String) -> String {
        var path = path
        // A shell completes a link to a folder as a folder.
        while path.utf8.count > 1, let shorter = path.exact.removingSuffix("/") { path = shorter }
        return absolute(path.exact.removingPrefix(HomeRoot.home.start).map { "\(home)/\($0)" } ?? path)
    }
}
