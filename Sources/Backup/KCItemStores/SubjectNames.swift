package import KCBackupArchive
internal import KCByteStreams
package import KCSecretService

/// The desktop's Secret Service, as named by the user: `secret-service:` or `secret-service:LABEL`.
package struct DesktopKeyring: Hashable, Sendable {
    /// The selected collections.
    package let scope: ServiceScope

    private static let prefix = "secret-service:"

    /// All collections.
    package static let all = DesktopKeyring(scope: .all)

    /// True if no collection was named.
    package var isAll: Bool { scope == .all }

    package init(scope: ServiceScope) { self.scope = scope }

    /// Parses a name; nil if it names something else.
    package init?(_ given: String?) {
        guard let label = given?.exact.removingPrefix(Self.prefix) else { return nil }
        scope = label.isEmpty ? .all : .collection(label)
    }

    /// Creates an instance from the source recorded in an archive; nil for any other source.
    package init?(archived source: ArchiveSource) {
        guard source.kind == ArchiveSource.desktopKeyring else { return nil }
        scope = source.name.isEmpty ? .all : .collection(source.name)
    }

    /// The name as the user would type it.
    package var name: String { Self.prefix + label }

    /// The first part of its archives' names.
    package var stem: String { ArchiveSource.desktopKeyring + (label.isEmpty ? "" : "-" + label) }

    /// The label of the only selected collection; empty if all are selected.
    package var label: String { if case .collection(let label) = scope { label } else { "" } }
}

/// A file of items, or of another program, as named by the user: `file:PATH`.
package enum FileOfItems {
    private static let prefix = "file:"

    /// The name of the file at a path.
    package static func name(_ path: String) -> String { prefix + path }

    /// Returns the path in a name; nil for any other name.
    package static func path(_ given: String) -> String? { given.exact.removingPrefix(prefix) }
}
