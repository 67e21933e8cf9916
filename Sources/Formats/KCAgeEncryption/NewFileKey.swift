internal import KCByteStreams
internal import KCCryptography

/// The key of a file that is yet to be written, and the header with it.
///
/// Each is for one file: someone who knows the key of a file can write another payload below its header.
package final class NewFileKey {
    let key: FileKey
    let header: AgeHeader
    private var isTaken = false

    private init(_ key: FileKey, _ header: AgeHeader) {
        self.key = key
        self.header = header
    }

    /// Makes the keys of several files, each with recipients of its own; a plugin is run once for all files of the same
    /// recipients.
    ///
    /// - Throws: `AgeFailure`: `noRecipients`, `headerTooLarge` for more recipients than a reader accepts,
    ///   `mixedPassphrase`, `incompatibleRecipients`, `malformedRecipient`, `plugin`, `cryptography`.
    package static func make(for recipients: [[any Recipient]]) throws(AgeFailure) -> [NewFileKey] {
        for recipients in recipients {
            guard !recipients.isEmpty else { throw .noRecipients }
            try AgeHeader.requireRoom(forStanzas: recipients.count)
        }
        var keys: [FileKey] = []
        for _ in recipients { keys.append(FileKey(try cryptography(RandomBytes.secret(count: fileKeySize)))) }
        let plugins = try pluginParts(keys, recipients)
        var made: [NewFileKey] = []
        for (file, key) in keys.enumerated() {
            var parts = plugins[file]
            let hasPlugins = !parts.isEmpty
            for (place, recipient) in recipients[file].enumerated() where !(recipient is PluginRecipient) {
                parts[place] = try key.withKey { key throws(AgeFailure) in try recipient.wrap(fileKey: key) }
            }
            let ordered = parts.sorted { $0.key < $1.key }.map(\.value)
            let header = try header(of: key, ordered)
            // A plugin may have returned stanzas of age's types without their labels.
            if hasPlugins, !AgeHeader.areOfOneStrength(header.stanzas) { throw .incompatibleRecipients }
            made.append(NewFileKey(key, header))
        }
        return made
    }

    /// Returns what plugins wrap of each key, by the place of the first recipient of each run.
    private static func pluginParts(
        _ keys: [FileKey], _ recipients: [[any Recipient]]
    ) throws(AgeFailure) -> [[Int: WrappedFileKey]] {
        var parts = [[Int: WrappedFileKey]](repeating: [:], count: keys.count)
        for run in PluginRun.all(recipients) {
            let wrapped = try run.recipients[0].host.wrap(run.files.map { keys[$0] }, for: run.recipients)
            for (file, part) in zip(run.files, wrapped) {
                try requireHarmless(part, of: run.recipients[0].plugin)
                let place = recipients[file].firstIndex { ($0 as? PluginRecipient)?.plugin == run.recipients[0].plugin }
                // A plugin may be run twice for a file, if the files have only some recipients in common.
                let taken = parts[file][place ?? 0]
                parts[file][place ?? 0] = try taken?.joined(part) ?? part
            }
        }
        return parts
    }

    private static func requireHarmless(_ part: WrappedFileKey, of plugin: PluginName) throws(AgeFailure) {
        do throws(AgeFailure) {
            try part.requireHarmless()
        } catch .malformedHeader(let rule) {
            throw .plugin(plugin, .misbehaved("it wrapped a key as no reader accepts it: \(rule)"))
        }
    }

    private static func header(of key: FileKey, _ parts: [WrappedFileKey]) throws(AgeFailure) -> AgeHeader {
        var whole: WrappedFileKey?
        for part in parts { whole = try whole?.joined(part) ?? part }
        guard let stanzas = whole?.stanzas else { throw .noRecipients }
        try AgeHeader.requireRoom(forStanzas: stanzas.count)
        try AgeHeader.requireLonePassphrase(stanzas)
        let header = try key.withKey { key throws(AgeFailure) in try AgeHeader(stanzas: stanzas, fileKey: key) }
        guard header.length <= AgeHeader.sizeLimit else {
            throw .headerTooLarge("header bytes", allowed: AgeHeader.sizeLimit)
        }
        return header
    }

    /// Marks the key as used.
    func take() {
        precondition(!isTaken, "a file key is for one file")
        isTaken = true
    }
}

/// The recipients of one plugin that are the same for some files.
private struct PluginRun {
    let recipients: [PluginRecipient]
    var files: [Int]

    /// Every recipient of a plugin, in as few runs as possible.
    static func all(_ recipients: [[any Recipient]]) -> [PluginRun] {
        var filesOf: [PluginRecipient: [Int]] = [:]
        var order: [PluginRecipient] = []
        for (file, recipients) in recipients.enumerated() {
            for recipient in recipients.compactMap({ $0 as? PluginRecipient }) {
                if filesOf[recipient] == nil { order.append(recipient) }
                if filesOf[recipient]?.last != file { filesOf[recipient, default: []].append(file) }
            }
        }
        var runs: [PluginRun] = []
        for recipient in order {
            let files = filesOf[recipient] ?? []
            let place = runs.firstIndex { $0.files == files && $0.recipients[0].plugin == recipient.plugin }
            if let place {
                runs[place] = PluginRun(recipients: runs[place].recipients + [recipient], files: files)
            } else {
                runs.append(PluginRun(recipients: [recipient], files: files))
            }
        }
        return runs
    }
}

extension WrappedFileKey {
    /// The stanzas of both; throws `incompatibleRecipients` unless their labels are equal.
    fileprivate func joined(_ other: WrappedFileKey) throws(AgeFailure) -> WrappedFileKey {
        guard labels == other.labels else { throw .incompatibleRecipients }
        return WrappedFileKey(stanzas + other.stanzas, labels: labels)
    }
}
