internal import KCByteStreams
package import KCKeychainModel

/// Where programs keep the keyring files of the desktop and of apps.
package enum KeyringPlaces {
    /// The folder in which oo7 keeps its keyrings, beside those of GNOME Keyring.
    package static let folderOfOO7 = "v1"

    // Where Flatpak keeps the data of apps, and they their keyrings in it.
    private static let apps = ".var/app"
    private static let folderOfApp = "data/keyrings"

    /// The files that are named like keyrings, as paths below a folder, sorted.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`.
    package static func names(in path: String) throws -> [String] {
        var found: [String] = []
        for prefix in ["", folderOfOO7 + "/"] where prefix.isEmpty || Path.isFolder(path + "/" + folderOfOO7) {
            for name in try Path.names(in: path + "/" + prefix).sorted()
            where name.exact.hasSuffix(".keyring") && !name.exact.hasPrefix(".") {
                if try Path.kind(of: path + "/" + prefix + name) == .file { found.append(prefix + name) }
            }
        }
        return found
    }

    /// The keyrings of the apps in sandboxes of Flatpak, as paths below a home, sorted, with the IDs of the apps, which
    /// are foreign text; those that cannot be listed are not among them.
    ///
    /// - Throws: `StreamFailure` if interrupted.
    package static func ofApps(in home: String) throws -> [(path: String, app: String)] {
        var keyrings: [(path: String, app: String)] = []
        for app in try readable({ try Path.names(in: "\(home)/\(apps)") }) ?? [] {
            let folder = "\(apps)/\(app)/\(folderOfApp)"
            let found = try readable { () throws -> [String] in
                try Path.kind(of: "\(home)/\(apps)/\(app)") == .folder ? names(in: "\(home)/\(folder)") : []
            }
            for name in found ?? [] { keyrings.append(("\(folder)/\(name)", app)) }
        }
        return keyrings.sorted { $0.path.exact < $1.path.exact }
    }

    /// The result of `body`; nil for what cannot be read, which is told where files are backed up.
    ///
    /// - Throws: `StreamFailure` if interrupted.
    package static func readable<Value>(_ body: () throws -> Value) throws -> Value? {
        do {
            return try body()
        } catch is FileFailure {
            return nil
        } catch let failure as StreamFailure where failure.kind != .interrupted {
            return nil
        }
    }

    /// The ID of the app that a folder of keyrings belongs to; nil for any other folder.
    ///
    /// - Parameter path: the path of the folder, without links.
    package static func app(ofFolder path: String) -> String? {
        let names = path.exact.split(separator: "/")
        let depth = names.last?.exact == folderOfOO7.exact ? 1 : 0
        let end = names.dropLast(depth).suffix(5)
        let form = (apps + "/*/" + folderOfApp).exact.split(separator: "/")
        guard end.count == 5, zip(end, form).allSatisfy({ $1.exact == "*" || $0.exact == $1.exact }) else { return nil }
        return end[end.startIndex + 2]
    }
}

/// The data that a keyring file shows without its password.
package struct KeyringOutline: Hashable, Sendable {
    /// The name of the keyring; foreign text.
    package let label: String
    package let itemCount: Int
    /// True for a file of oo7 or libsecret, false for one of GNOME Keyring.
    package let isOfOO7: Bool

    package init(label: String, itemCount: Int, isOfOO7: Bool) {
        self.label = label
        self.itemCount = itemCount
        self.isOfOO7 = isOfOO7
    }
}

/// A keyring in the folder of a desktop: the file of GNOME Keyring, the one that oo7 made of it, or both.
package struct KeyringVersions: Sendable {
    /// The path of the file of GNOME Keyring; nil if there is none.
    package let old: String?
    /// The path of the file of oo7; nil if there is none.
    package let new: String?
    /// When oo7 noted that it has converted the old file; nil if it has not.
    package let converted: Timestamp?

    /// Finds the keyrings in a folder such as `~/.local/share/keyrings`, sorted by name; none if there is no such folder.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`.
    package static func find(in folder: String) throws -> [KeyringVersions] {
        guard Path.isFolder(folder) else { return [] }
        let names = try KeyringPlaces.names(in: folder)
        let prefix = KeyringPlaces.folderOfOO7 + "/"
        var versions: [ExactText: (old: String?, new: String?)] = [:]
        for name in names {
            if let own = name.exact.removingPrefix(prefix) {
                versions[own.exact, default: (nil, nil)].new = folder + "/" + name
            } else {
                versions[name.exact, default: (nil, nil)].old = folder + "/" + name
            }
        }
        return try versions.sorted { $0.key < $1.key }.map { name, paths in
            let converted = try stamp(of: folder + "/" + name.string)
            return KeyringVersions(old: paths.old, new: paths.new, converted: converted)
        }
    }

    /// When oo7 converted a keyring or a wallet, of which it leaves an empty file beside it; nil if it has not.
    ///
    /// - Throws: `FileFailure`.
    package static func stamp(of path: String) throws -> Timestamp? {
        guard try Path.kind(of: path + ".migrated") == .file else { return nil }
        return try ForeignFile.modified(OpenFile.reading(path + ".migrated").status())
    }
}
