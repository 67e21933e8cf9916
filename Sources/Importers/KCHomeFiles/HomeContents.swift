package import KCByteStreams
package import KCItemSources

/// The contents of a home that `HomeTable` names: the files as items, and what is not among them.
package struct HomeContents: Sendable {
    package let items: CollectedItems
    /// The numbers of each source that has files, in the order of the table.
    package let sources: [Summary]
    /// The entries that stay where they are, by a rule.
    package private(set) var left: [Left]
    /// The entries that should be here and could not be read.
    package let unread: [(path: String, problem: HomeFile.Failure)]

    /// The number of credentials that only this machine can open.
    package let boundCount: Int
    /// The files with secrets that anyone who can read them can use.
    package let clear: [Clear]

    /// The entries of `left` that a backup should have.
    package var missed: [Left] { left.filter(\.isMissed) }

    /// The same, where some of what a backup should have may be missing.
    ///
    /// - Parameter paths: what the user does without, as `Left.path` has it.
    package func accepting(_ paths: Set<ExactText>) -> HomeContents {
        var contents = self
        for index in left.indices where paths.contains(left[index].path.exact) { contents.left[index].isMissed = false }
        return contents
    }

    /// An entry that stays where it is.
    package struct Left: Hashable, Sendable {
        package let path: String
        package let reason: HomeReason
        /// True if a backup should have what is in it, and no file that was taken has it.
        package internal(set) var isMissed: Bool
    }

    /// A file with secrets in the clear.
    package struct Clear: Hashable, Sendable {
        package let path: HomePath
        package let kind: Kind

        package enum Kind: Hashable, Sendable {
            case privateKey
            /// In a form from which they can be imported.
            case passwords
            case secret
        }
    }

    /// The numbers of one source.
    package struct Summary: Hashable, Sendable {
        package let title: String
        package internal(set) var taken = 0
        package internal(set) var left = 0
        package internal(set) var unread = 0
        /// The size of the files that were taken, in bytes.
        package internal(set) var size: UInt64 = 0

        init(title: String) { self.title = title }

        package var isEmpty: Bool { taken + left + unread == 0 }
    }
}

/// Why a home cannot be read or written at all.
package enum HomeFailure: Error, Hashable, Sendable {
    /// The home has more files of secrets than any user keeps; the value is the limit.
    case tooManyFiles(Int)
    /// The files are larger together than what fits in memory; the value is the limit in bytes.
    case tooLarge(Int)
    /// The file at this path belongs to the system, and cannot be read without the rights of root.
    case needsRoot(String)
    /// The file at this path was changed since the plan was made.
    case changedMeanwhile(String)
    /// The file at this path cannot be replaced, because of what it is; nil if something else is in its place, or on the way.
    case notReplaceable(String, HomeFile.Failure?)
    /// Something else is in the place of all files that would be taken back, or on the way to them: of this one, and so many.
    case inTheWay(of: String, count: Int)
}
