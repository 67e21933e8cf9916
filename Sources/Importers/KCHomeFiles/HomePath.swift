package import KCByteStreams

/// The path of a file below a home folder, or below the root of a system: names joined by slashes, none of which leads
/// anywhere else.
package struct HomePath: Hashable, Comparable, Sendable {
    package let root: HomeRoot
    /// The path, relative to the root.
    package let text: ExactText
    /// The names, from the first folder to the file.
    package let names: [String]

    // The kernel's own limit on a name (path_resolution(7)).
    private static let nameLimit = 255
    /// The maximum number of names: no program's folders are nested as deeply.
    package static let depthLimit = 32

    /// Parses a path; nil if it is absolute, or has a name that is empty, `.`, `..` or too long, or too many of them.
    package init?(_ text: String, in root: HomeRoot = .home) {
        let names = text.exact.split(separator: "/", omittingEmptySubsequences: false)
        guard (1...Self.depthLimit).contains(names.count), names.allSatisfy(Self.isName) else { return nil }
        self.root = root
        self.text = text.exact
        self.names = names
    }

    /// The path below a home of what has a path; nil for what is not below it.
    package init?(of path: String, in home: String) {
        let (folder, name) = Path.split(path)
        guard let real = Path.real(folder), let base = Path.real(home) else { return nil }
        guard let rest = "\(real)/\(name)".exact.removingPrefix(base == "/" ? base : base + "/") else { return nil }
        self.init(rest)
    }

    private init(names: [String], in root: HomeRoot) {
        self.root = root
        self.names = names
        text = names.joined(separator: "/").exact
    }

    /// The last name.
    package var name: String { names[names.count - 1] }

    /// The names of the folders on the way, the outermost first.
    package var folderNames: [String] { Array(names.dropLast()) }

    /// The path of the folder with this many names.
    func prefix(_ count: Int) -> HomePath { HomePath(names: Array(names.prefix(count)), in: root) }

    /// The folders on the way to the file, the outermost first.
    package var folders: [HomePath] { (1..<names.count).map(prefix) }

    /// The path as people write it.
    package var shown: String { root.start + text.string }

    private static func isName(_ name: String) -> Bool {
        (1...nameLimit).contains(name.utf8.count) && name.exact != "." && name.exact != ".." && !name.utf8.contains(0)
    }

    package static func == (left: HomePath, right: HomePath) -> Bool {
        left.root == right.root && left.text == right.text
    }

    package static func < (left: HomePath, right: HomePath) -> Bool { left.text < right.text }

    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
