internal import KCByteStreams

/// The root of a set of files that is one store.
package enum HomeRoot: CaseIterable, Hashable, Sendable {
    /// The files of a home that hold secrets.
    case home
    /// The credentials of systemd, below the root of the system.
    case credentials

    /// The files that are read and written.
    package var sources: [HomeSource] {
        switch self {
        case .home: HomeTable.sources
        case .credentials: CredentialTable.sources
        }
    }

    /// The service of the items.
    package var service: String {
        switch self {
        case .home: "kcbackup.home-file"
        case .credentials: "kcbackup.systemd-credential"
        }
    }

    /// The attribute with the mode of a file.
    var modeName: String {
        switch self {
        case .home: "home.mode"
        case .credentials: "systemd.mode"
        }
    }

    /// The text that people write before a path.
    package var start: String {
        switch self {
        case .home: "~/"
        case .credentials: "/"
        }
    }
}
