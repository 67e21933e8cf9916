internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainModel

/// Parses the members of a keybag in order.
struct KeybagReader {
    private var scanner = CanonicalScanner()

    mutating func read(_ bytes: borrowing Span<UInt8>) throws -> Keybag {
        try scanner.literal("{\"version\":", in: bytes)
        let version = try scanner.integer(in: bytes)
        guard version <= Keybag.version else {
            throw KeybagFailure.newerFormat(found: Int(version), known: Keybag.version)
        }
        guard version >= 1 else { throw malformed("the version is unknown") }
        try scanner.literal(",\"uuid\":", in: bytes)
        let spelling = try scanner.string(in: bytes)
        guard let uuid = ItemUUID(spelling), uuid.description == spelling else { throw malformed("the UUID is wrong") }
        try scanner.literal(",\"device\":", in: bytes)
        let name = try scanner.string(in: bytes)
        guard let device = DeviceID(name), device.description == name else { throw malformed("the device is wrong") }
        try scanner.literal(",\"generation\":", in: bytes)
        let generation = try scanner.integer(in: bytes)
        guard generation >= 1 else { throw malformed("the generation is wrong") }
        try scanner.literal(",\"salt\":", in: bytes)
        let salt = try sized(Keybag.saltSize, bytes)
        let keys = try keys(bytes)
        let presence = try presence(bytes)
        let retired = try retired(hasPasscode: !presence.isEmpty, bytes)
        var cost: ScryptCost?
        var passcodeCode: [UInt8]?
        var guarded: GuardedSecret?
        if scanner.skip(",\"scrypt\":", in: bytes) {
            // The allowed range is checked when the keybag is opened, before the derivation.
            guard let found = ScryptCost(logN: Int(clamping: try scanner.integer(in: bytes))) else {
                throw malformed("the cost is wrong")
            }
            cost = found
            guarded = try self.guarded(bytes)
            try scanner.literal(",\"passcode\":", in: bytes)
            passcodeCode = try sized(Keybag.codeSize, bytes)
        }
        guard (keys[.whenPasscodeSetThisDeviceOnly] != nil) == (cost != nil), presence.isEmpty == (cost == nil) else {
            throw malformed("keys")
        }
        let lockSettings = try lockSettings(bytes)
        let escrow = try escrow(hasPasscode: cost != nil, bytes)
        let tokens = try tokens(hasPasscode: cost != nil, bytes)
        let files = try files(bytes)
        try scanner.literal(",\"mac\":", in: bytes)
        let deviceCode = try sized(Keybag.codeSize, bytes)
        try scanner.literal("}", in: bytes)
        try scanner.end(in: bytes)
        let contents = Keybag.Contents(
            uuid: uuid, device: device, generation: Int(generation), salt: salt, wrappedKeys: keys,
            presence: presence, retired: retired, cost: cost, lockSettings: lockSettings, escrow: escrow,
            tokens: tokens, files: files, guarded: guarded)
        return Keybag(
            contents, passcodeCode: passcodeCode, deviceCode: deviceCode, text: bytes.indices.map { bytes[$0] })
    }

    private mutating func keys(_ bytes: borrowing Span<UInt8>) throws -> [Accessibility: [UInt8]] {
        try scanner.literal(",\"keys\":{", in: bytes)
        var keys: [Accessibility: [UInt8]] = [:]
        for accessibility in Accessibility.inKeybag {
            let member = (keys.isEmpty ? "\"" : ",\"") + accessibility.rawValue + "\":"
            guard scanner.skip(member, in: bytes) else {
                guard accessibility == .whenPasscodeSetThisDeviceOnly else { throw malformed("a key is missing") }
                continue
            }
            keys[accessibility] = try sized(ClassKey.size + AESKeyWrap.overhead, bytes)
        }
        try scanner.literal("}", in: bytes)
        return keys
    }

    private mutating func presence(
        _ bytes: borrowing Span<UInt8>
    ) throws -> [AccessConstraint: WrappedPresenceKey] {
        guard scanner.skip(",\"presence\":{", in: bytes) else { return [:] }
        var keys: [AccessConstraint: WrappedPresenceKey] = [:]
        for constraint in AccessConstraint.inKeybag {
            try scanner.literal((keys.isEmpty ? "\"" : ",\"") + constraint.rawValue + "\":[", in: bytes)
            let publicKey = PresencePublicKey(bytes: try sized(PresencePublicKey.size, bytes))
            try scanner.literal(",", in: bytes)
            let wrapped = try sized(WrappedPresenceKey.wrappedSize, bytes)
            try scanner.literal("]", in: bytes)
            keys[constraint] = WrappedPresenceKey(publicKey: publicKey, wrapped: wrapped)
        }
        try scanner.literal("}", in: bytes)
        return keys
    }

    private mutating func retired(hasPasscode: Bool, _ bytes: borrowing Span<UInt8>) throws -> [[UInt8]] {
        guard scanner.skip(",\"retired\":[", in: bytes) else { return [] }
        var sets: [[UInt8]] = []
        repeat {
            guard sets.count < Keybag.retiredLimit else {
                throw KeybagFailure.limit(
                    "retired class keys", found: sets.count + 1, allowed: Keybag.retiredLimit)
            }
            let set = try scanner.base64(in: bytes)
            guard RetiredKeys.isSize(set.count, hasPasscode: hasPasscode) else {
                throw malformed("a value has the wrong length")
            }
            sets.append(set)
        } while scanner.skip(",", in: bytes)
        try scanner.literal("]", in: bytes)
        return sets
    }

    private mutating func lockSettings(_ bytes: borrowing Span<UInt8>) throws -> LockSettings {
        var lockAfter: Int?
        if scanner.skip(",\"lockAfter\":", in: bytes) { lockAfter = Int(try scanner.integer(in: bytes)) }
        guard scanner.skip(",\"lockOnSuspend\":", in: bytes) else {
            if lockAfter != nil { throw malformed("the lock settings are missing") }
            return .default
        }
        let lockOnSuspend = scanner.skip("true", in: bytes)
        if !lockOnSuspend { try scanner.literal("false", in: bytes) }
        // The encoding is unique: default settings must be absent.
        guard let settings = LockSettings(lockAfter: lockAfter, lockOnSuspend: lockOnSuspend), settings != .default
        else { throw malformed("the lock settings are wrong") }
        return settings
    }

    private mutating func escrow(hasPasscode: Bool, _ bytes: borrowing Span<UInt8>) throws -> EscrowRecord? {
        guard scanner.skip(",\"escrow\":{\"since\":", in: bytes) else { return nil }
        // Without a passcode, the device opens everything, so there is nothing to hold in escrow.
        guard hasPasscode else { throw malformed("escrow") }
        guard let since = Timestamp(try scanner.string(in: bytes)) else { throw malformed("the date is wrong") }
        try scanner.literal(",\"key\":", in: bytes)
        let key = EscrowPublicKey(bytes: try sized(EscrowPublicKey.size, bytes))
        try scanner.literal(",\"share\":", in: bytes)
        let share = try sized(EscrowPublicKey.size, bytes)
        try scanner.literal(",\"keys\":", in: bytes)
        let keys = try sized(EscrowRecord.keysSize, bytes)
        try scanner.literal(",\"code\":", in: bytes)
        let code = try sized(Keybag.codeSize, bytes)
        try scanner.literal("}", in: bytes)
        return EscrowRecord(since: since, key: key, share: share, wrappedKeys: keys, code: code)
    }

    private mutating func tokens(hasPasscode: Bool, _ bytes: borrowing Span<UInt8>) throws -> [TokenRecord] {
        guard scanner.skip(",\"tokens\":[", in: bytes) else { return [] }
        // Without a passcode, no item asks for anything.
        guard hasPasscode else { throw malformed("tokens") }
        var tokens: [TokenRecord] = []
        repeat {
            guard tokens.count < Keybag.tokenLimit else {
                throw KeybagFailure.limit("security tokens", found: tokens.count + 1, allowed: Keybag.tokenLimit)
            }
            let token = try token(bytes)
            guard !tokens.contains(where: { $0.name.text.exact == token.name.text.exact }) else {
                throw malformed("a name is not unique")
            }
            tokens.append(token)
        } while scanner.skip(",", in: bytes)
        try scanner.literal("]", in: bytes)
        return tokens
    }

    private mutating func token(_ bytes: borrowing Span<UInt8>) throws -> TokenRecord {
        try scanner.literal("{\"name\":", in: bytes)
        guard let name = TokenName(try scanner.string(in: bytes)) else { throw malformed("the name is wrong") }
        try scanner.literal(",\"since\":", in: bytes)
        guard let since = Timestamp(try scanner.string(in: bytes)) else { throw malformed("the date is wrong") }
        try scanner.literal(",\"credential\":[", in: bytes)
        let credential = try scanner.base64(in: bytes)
        try scanner.literal(",", in: bytes)
        let signer = try scanner.base64(in: bytes)
        try scanner.literal("],\"salt\":", in: bytes)
        guard let handle = TokenHandle(credential: credential, publicKey: signer, salt: try scanner.base64(in: bytes))
        else { throw malformed("a value has the wrong length") }
        try scanner.literal(",\"key\":", in: bytes)
        let key = TokenPublicKey(bytes: try sized(TokenPublicKey.size, bytes))
        try scanner.literal(",\"share\":", in: bytes)
        let share = try sized(TokenPublicKey.size, bytes)
        try scanner.literal(",\"wrapped\":", in: bytes)
        let wrapped = try sized(WrappedPresenceKey.wrappedSize, bytes)
        try scanner.literal(",\"code\":", in: bytes)
        let code = try sized(Keybag.codeSize, bytes)
        try scanner.literal("}", in: bytes)
        return TokenRecord(
            name: name, since: since, handle: handle, key: key, share: share, wrapped: wrapped, code: code)
    }

    private mutating func files(_ bytes: borrowing Span<UInt8>) throws -> WrappedFileKeys {
        var files = WrappedFileKeys()
        guard scanner.skip(",\"files\":{", in: bytes) else { return files }
        for fileClass in FileKeyClass.allCases {
            let member = (files.isEmpty ? "\"" : ",\"") + fileClass.rawValue + "\":["
            guard scanner.skip(member, in: bytes) else { continue }
            var keys: [[UInt8]] = []
            repeat {
                guard keys.count < WrappedFileKeys.limit else {
                    throw KeybagFailure.limit("keys of files", found: keys.count + 1, allowed: WrappedFileKeys.limit)
                }
                keys.append(try sized(WrappedFileKeys.wrappedSize, bytes))
            } while scanner.skip(",", in: bytes)
            try scanner.literal("]", in: bytes)
            files.wrapped[fileClass] = keys
        }
        if files.wrapped[.unlessOpen] != nil {
            try scanner.literal(",\"public\":", in: bytes)
            files.publicKey = try sized(FileKey.size, bytes)
        }
        if files.isEmpty { throw malformed("files") }
        try scanner.literal("}", in: bytes)
        return files
    }

    private mutating func guarded(_ bytes: borrowing Span<UInt8>) throws -> GuardedSecret? {
        guard scanner.skip(",\"tpm\":{\"parent\":", in: bytes) else { return nil }
        let parent = try part(bytes)
        try scanner.literal(",\"public\":", in: bytes)
        let publicPart = try part(bytes)
        try scanner.literal(",\"private\":", in: bytes)
        let privatePart = try part(bytes)
        try scanner.literal("}", in: bytes)
        return GuardedSecret(SealedSecret(parent: parent, publicPart: publicPart, privatePart: privatePart))
    }

    private mutating func part(_ bytes: borrowing Span<UInt8>) throws -> [UInt8] {
        let value = try scanner.base64(in: bytes)
        guard GuardedSecret.partSizes.contains(value.count) else { throw malformed("a value has the wrong length") }
        return value
    }

    private mutating func sized(_ count: Int, _ bytes: borrowing Span<UInt8>) throws -> [UInt8] {
        let value = try scanner.base64(in: bytes)
        guard value.count == count else { throw malformed("a value has the wrong length") }
        return value
    }

    private func malformed(_ rule: String) -> MalformedLine { MalformedLine(rule, at: scanner.position) }
}
