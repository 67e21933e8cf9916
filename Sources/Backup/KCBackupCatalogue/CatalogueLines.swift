internal import KCBackupArchive
internal import KCByteStreams
internal import KCCryptography
internal import KCKeychainModel

// The encoding of a catalogue in its `StateFile`: lines of canonical JSON, one for the folder and one for each archive.

extension Catalogue {
    /// The lines.
    var spelling: [UInt8] {
        var text: [UInt8] = []
        CanonicalJSON.literal("{\"folder\":", into: &text)
        CanonicalJSON.string(folder, into: &text)
        CanonicalJSON.literal(",\"pin\":", into: &text)
        if let pin { pin.encode(into: &text) } else { CanonicalJSON.literal("null", into: &text) }
        for (name, time) in [("begun", begun), ("drilled", drilled)] {
            if let time { CanonicalJSON.literal(",\"\(name)\":\"\(time)\"", into: &text) }
        }
        CanonicalJSON.literal("}\n", into: &text)
        for entry in entries {
            entry.encode(into: &text)
            CanonicalJSON.literal("\n", into: &text)
        }
        return text
    }

    /// Parses the lines that `spelling` returns.
    init(parsing bytes: borrowing Span<UInt8>) throws(MalformedLine) {
        var scanner = CanonicalScanner()
        try scanner.literal("{\"folder\":", in: bytes)
        let folder = try scanner.string(in: bytes)
        try scanner.literal(",\"pin\":", in: bytes)
        let pin = scanner.skip("null", in: bytes) ? nil : try BackupPin(&scanner, in: bytes)
        let begun = scanner.skip(",\"begun\":", in: bytes) ? try scanner.time(in: bytes) : nil
        let drilled = scanner.skip(",\"drilled\":", in: bytes) ? try scanner.time(in: bytes) : nil
        try scanner.literal("}\n", in: bytes)
        var entries: [CatalogueEntry] = []
        while scanner.position < bytes.count {
            entries.append(try CatalogueEntry(&scanner, in: bytes))
            try scanner.literal("\n", in: bytes)
        }
        self.init(folder: folder, pin: pin, entries: entries)
        self.begun = begun
        self.drilled = drilled
    }
}

extension BackupPin {
    fileprivate func encode(into text: inout [UInt8]) {
        CanonicalJSON.literal("{\"all\":\(isOfAll),\"mode\":\"\(mode.rawValue)\",\"keys\":", into: &text)
        encodeList(keys, into: &text)
        CanonicalJSON.literal(",\"subjects\":", into: &text)
        encodeMembers(subjects, into: &text) { CanonicalJSON.string($0, into: &$1) }
        CanonicalJSON.literal("}", into: &text)
    }

    fileprivate init(_ scanner: inout CanonicalScanner, in bytes: borrowing Span<UInt8>) throws(MalformedLine) {
        try scanner.literal("{\"all\":", in: bytes)
        let isOfAll = scanner.skip("true", in: bytes)
        if !isOfAll { try scanner.literal("false", in: bytes) }
        try scanner.literal(",\"mode\":", in: bytes)
        let mode = try scanner.mode(in: bytes)
        try scanner.literal(",\"keys\":", in: bytes)
        let keys = try scanner.list(in: bytes)
        try scanner.literal(",\"subjects\":", in: bytes)
        let subjects = try scanner.members(in: bytes) { scanner, bytes throws(MalformedLine) in
            try scanner.string(in: bytes)
        }
        try scanner.literal("}", in: bytes)
        self.init(isOfAll: isOfAll, mode: mode, keys: keys, subjects: subjects)
    }
}

extension CatalogueEntry {
    fileprivate func encode(into text: inout [UInt8]) {
        CanonicalJSON.literal("{\"name\":", into: &text)
        CanonicalJSON.string(name, into: &text)
        CanonicalJSON.literal(
            ",\"archive\":\"\(Hexadecimal.encode(archiveID))\",\"created\":\"\(created)\",\"series\":", into: &text)
        CanonicalJSON.string(series, into: &text)
        CanonicalJSON.literal(",\"mode\":\"\(mode.rawValue)\"", into: &text)
        for (name, file) in [("file", file), ("next", nextFile)] {
            guard let file else { continue }
            CanonicalJSON.literal(",\"\(name)\":{\"keys\":", into: &text)
            encodeList(file.keys, into: &text)
            CanonicalJSON.literal(
                ",\"size\":\(file.size),\"checksum\":\"\(file.checksum.digest.hex)\"}", into: &text)
        }
        if let content {
            CanonicalJSON.literal(",\"counts\":", into: &text)
            content.counts.encode(into: &text)
            CanonicalJSON.literal(",\"groups\":", into: &text)
            encodeMembers(content.groups, into: &text) { CanonicalJSON.integer(Int64($0), into: &$1) }
            CanonicalJSON.literal(
                ",\"damaged\":\(content.damaged),\"fingerprint\":\"\(Hexadecimal.encode(content.fingerprint))\"",
                into: &text)
            if let state = content.state {
                CanonicalJSON.literal(",\"store\":\"\(Hexadecimal.encode(state))\"", into: &text)
            }
        }
        CanonicalJSON.literal(",\"state\":\"\(state.rawValue)\",\"verified\":\"\(verified)\"", into: &text)
        for (name, time) in [
            ("drilled", drilled), ("confirmed", confirmed), ("foundDamaged", foundDamaged), ("trashed", trashed?.date),
        ] {
            if let time { CanonicalJSON.literal(",\"\(name)\":\"\(time)\"", into: &text) }
        }
        if let trashed {
            CanonicalJSON.literal(",\"readings\":", into: &text)
            encodeList(trashed.readings.map(\.description), into: &text)
        }
        CanonicalJSON.literal("}", into: &text)
    }

    fileprivate init(_ scanner: inout CanonicalScanner, in bytes: borrowing Span<UInt8>) throws(MalformedLine) {
        try scanner.literal("{\"name\":", in: bytes)
        let name = try scanner.string(in: bytes)
        try scanner.literal(",\"archive\":", in: bytes)
        let archiveID = try scanner.hexadecimal(in: bytes)
        try scanner.literal(",\"created\":", in: bytes)
        let created = try scanner.time(in: bytes)
        try scanner.literal(",\"series\":", in: bytes)
        let series = try scanner.string(in: bytes)
        try scanner.literal(",\"mode\":", in: bytes)
        let mode = try scanner.mode(in: bytes)
        try scanner.literal(",\"file\":", in: bytes)
        let file = try File(&scanner, in: bytes)
        let nextFile = scanner.skip(",\"next\":", in: bytes) ? try File(&scanner, in: bytes) : nil
        var content: Content?
        if scanner.skip(",\"counts\":", in: bytes) {
            let counts = try ItemCounts(&scanner, in: bytes)
            try scanner.literal(",\"groups\":", in: bytes)
            let groups = try scanner.members(in: bytes) { scanner, bytes throws(MalformedLine) in
                Int(try scanner.integer(in: bytes))
            }
            try scanner.literal(",\"damaged\":", in: bytes)
            let damaged = Int(try scanner.integer(in: bytes))
            try scanner.literal(",\"fingerprint\":", in: bytes)
            let fingerprint = try scanner.hexadecimal(in: bytes)
            let state = scanner.skip(",\"store\":", in: bytes) ? try scanner.hexadecimal(in: bytes) : nil
            content = Content(
                counts: counts, groups: groups, damaged: damaged, fingerprint: fingerprint, state: state)
        }
        try scanner.literal(",\"state\":", in: bytes)
        guard let state = State(rawValue: try scanner.string(in: bytes)) else {
            throw MalformedLine("the state is unknown", at: scanner.position)
        }
        try scanner.literal(",\"verified\":", in: bytes)
        self.init(
            name: name, archiveID: archiveID, created: created, series: series, mode: mode, file: file,
            content: content, state: state, verified: try scanner.time(in: bytes))
        self.nextFile = nextFile
        if scanner.skip(",\"drilled\":", in: bytes) { drilled = try scanner.time(in: bytes) }
        if scanner.skip(",\"confirmed\":", in: bytes) { confirmed = try scanner.time(in: bytes) }
        if scanner.skip(",\"foundDamaged\":", in: bytes) { foundDamaged = try scanner.time(in: bytes) }
        if scanner.skip(",\"trashed\":", in: bytes) { trashed = try Removal(&scanner, in: bytes) }
        try scanner.literal("}", in: bytes)
    }
}

extension CatalogueEntry.Removal {
    fileprivate init(_ scanner: inout CanonicalScanner, in bytes: borrowing Span<UInt8>) throws(MalformedLine) {
        let date = try scanner.time(in: bytes)
        var readings = [date]
        // Without them, an earlier version wrote it.
        if scanner.skip(",\"readings\":", in: bytes) {
            readings = []
            for text in try scanner.list(in: bytes) {
                guard let time = Timestamp(text) else {
                    throw MalformedLine("the date is not canonical", at: scanner.position)
                }
                readings.append(time)
            }
        }
        guard let removal = Self(date: date, readings: readings) else {
            throw MalformedLine("the number of readings is out of range", at: scanner.position)
        }
        self = removal
    }
}

extension CatalogueEntry.File {
    fileprivate init(_ scanner: inout CanonicalScanner, in bytes: borrowing Span<UInt8>) throws(MalformedLine) {
        try scanner.literal("{\"keys\":", in: bytes)
        let keys = try scanner.list(in: bytes)
        try scanner.literal(",\"size\":", in: bytes)
        guard let size = UInt64(exactly: try scanner.integer(in: bytes)) else {
            throw MalformedLine("a size is out of range", at: scanner.position)
        }
        try scanner.literal(",\"checksum\":", in: bytes)
        guard let digest = SHA256Digest(hex: try scanner.string(in: bytes)) else {
            throw MalformedLine("32 bytes in hexadecimal are expected", at: scanner.position)
        }
        try scanner.literal("}", in: bytes)
        self.init(keys: keys, size: size, checksum: ArchiveChecksum(digest))
    }
}

private func encodeList(_ values: [String], into text: inout [UInt8]) {
    CanonicalJSON.literal("[", into: &text)
    for (index, value) in values.enumerated() {
        if index > 0 { CanonicalJSON.literal(",", into: &text) }
        CanonicalJSON.string(value, into: &text)
    }
    CanonicalJSON.literal("]", into: &text)
}

private func encodeMembers<Value>(
    _ members: [ExactText: Value], into text: inout [UInt8], _ encode: (Value, inout [UInt8]) -> Void
) {
    CanonicalJSON.literal("{", into: &text)
    let sorted = members.sorted { $0.key < $1.key }
    for (index, member) in sorted.enumerated() {
        if index > 0 { CanonicalJSON.literal(",", into: &text) }
        CanonicalJSON.string(member.key.string, into: &text)
        CanonicalJSON.literal(":", into: &text)
        encode(member.value, &text)
    }
    CanonicalJSON.literal("}", into: &text)
}

extension CanonicalScanner {
    fileprivate mutating func time(in bytes: borrowing Span<UInt8>) throws(MalformedLine) -> Timestamp {
        guard let time = Timestamp(try string(in: bytes)) else {
            throw MalformedLine("the date is not canonical", at: position)
        }
        return time
    }

    fileprivate mutating func mode(in bytes: borrowing Span<UInt8>) throws(MalformedLine) -> ArchiveMode {
        guard let mode = ArchiveMode(rawValue: try string(in: bytes)) else {
            throw MalformedLine("the mode is unknown", at: position)
        }
        return mode
    }

    fileprivate mutating func hexadecimal(in bytes: borrowing Span<UInt8>) throws(MalformedLine) -> [UInt8] {
        guard let decoded = Hexadecimal.decode(try string(in: bytes)), decoded.count == 32 else {
            throw MalformedLine("32 bytes in hexadecimal are expected", at: position)
        }
        return decoded
    }

    fileprivate mutating func list(in bytes: borrowing Span<UInt8>) throws(MalformedLine) -> [String] {
        try literal("[", in: bytes)
        var values: [String] = []
        while !skip("]", in: bytes) {
            if !values.isEmpty { try literal(",", in: bytes) }
            values.append(try string(in: bytes))
        }
        return values
    }

    fileprivate mutating func members<Value>(
        in bytes: borrowing Span<UInt8>,
        _ value: (inout CanonicalScanner, borrowing Span<UInt8>) throws(MalformedLine) -> Value
    ) throws(MalformedLine) -> [ExactText: Value] {
        try literal("{", in: bytes)
        var members: [ExactText: Value] = [:]
        while !skip("}", in: bytes) {
            if !members.isEmpty { try literal(",", in: bytes) }
            let name = try string(in: bytes).exact
            try literal(":", in: bytes)
            guard members.updateValue(try value(&self, bytes), forKey: name) == nil else {
                throw MalformedLine("a name occurs twice", at: position)
            }
        }
        return members
    }
}
