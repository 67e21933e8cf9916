internal import Glibc
package import KCAgeEncryption
internal import KCByteStreams
internal import KCConsole

/// The plugins that are installed, and the person for whom they run.
///
/// A plugin is found in a few folders, and not through `PATH`, which a folder of somebody else may be part of. Neither it nor
/// the way to it can be changed by anybody but its user and root: it gets to know the key of whatever it opens.
package struct PluginPrograms: PluginHost {
    private let folders: [String]
    private let environment: [String: String]
    private let user: any PluginUser
    private let patience: Duration

    // As long as a device or a server takes to answer without anybody's help.
    package static let standardPatience = Duration.seconds(60)

    /// Creates an instance.
    ///
    /// - Parameters:
    ///   - home: the home folder of the user; plugins may be in its `.local/bin`, if it is an absolute path.
    ///   - environment: that of this program, of which plugins get what they need.
    ///   - patience: how long a run of a plugin may take if nobody is there who could interrupt it.
    package init(
        home: String, environment: [String: String], for user: any PluginUser,
        patience: Duration = standardPatience
    ) {
        let own = home.exact.hasPrefix("/") ? ["\(home)/.local/bin"] : []
        folders = ["/usr/local/bin", "/usr/bin"] + own
        self.environment = Self.environment(from: environment, home: home)
        self.user = user
        self.patience = patience
    }

    package func wrap(
        _ fileKeys: [FileKey], for recipients: [PluginRecipient]
    ) throws(AgeFailure) -> [WrappedFileKey] {
        guard let plugin = recipients.first?.plugin else { return [] }
        return try run(plugin, "recipient-v1") { talk throws(AgeFailure) in
            try talk.wrap(fileKeys, for: recipients)
        }
    }

    package func unwrap(
        _ headers: [AgeHeader], with identities: [PluginIdentity]
    ) throws(AgeFailure) -> [FileKey?] {
        guard let plugin = identities.first?.plugin else { return headers.map { _ in nil } }
        return try run(plugin, "identity-v1") { talk throws(AgeFailure) in
            try talk.unwrap(headers, with: identities)
        }
    }

    private func run<Result>(
        _ plugin: PluginName, _ machine: String, _ body: (inout PluginTalk) throws(AgeFailure) -> Result
    ) throws(AgeFailure) -> Result {
        let path = try path(of: plugin)
        let child: ChildDialogue
        do throws(ChildProgram.Failure) {
            child = try ChildDialogue(
                path, ["--age-plugin=" + machine], environment: environment,
                patience: user.isAttended ? nil : patience)
        } catch {
            switch error {
            case .notStarted(let code): throw .plugin(plugin, .notStarted(code))
            }
        }
        user.beginWait(for: plugin)
        defer { user.endWait() }
        var talk = PluginTalk(plugin, child, for: user)
        do throws(AgeFailure) {
            let result = try body(&talk)
            child.end(isDone: true)
            return result
        } catch {
            child.end(isDone: false)
            guard case .stream(let failure) = error, case .system(ETIMEDOUT) = failure.kind else { throw error }
            throw .plugin(plugin, .overdue(seconds: Int(patience.components.seconds)))
        }
    }

    /// The path of a plugin, which only its user and root can change.
    ///
    /// - Throws: `AgeFailure.plugin`: `notFound`, `notSafe`.
    package func path(of plugin: PluginName) throws(AgeFailure) -> String {
        do throws(FileFailure) {
            for folder in folders {
                let path = folder + "/" + plugin.program
                if try Path.kind(of: path) == nil { continue }
                try PrivateProgram.require(path)
                return path
            }
        } catch {
            throw .plugin(plugin, .notSafe(error))
        }
        throw .plugin(plugin, .notFound(folders: folders))
    }

    /// Returns the variables that plugins need: their user, the language, folders, and the ways to devices, agents and
    /// a desktop.
    private static func environment(from all: [String: String], home: String) -> [String: String] {
        let known: [ExactText] = [
            "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TERM", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
            "XDG_STATE_HOME", "XDG_CACHE_HOME", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
            "SSH_AUTH_SOCK", "GNUPGHOME", "PCSCLITE_CSOCK_NAME",
        ]
        var kept = all.filter { known.contains($0.key.exact) || $0.key.exact.hasPrefix("LC_") }
        kept["HOME"] = home
        kept["PATH"] = "/usr/local/bin:/usr/bin:/bin"
        return kept
    }
}
