internal import CKCTPM2
internal import Glibc
package import KCByteStreams
package import KCCryptography
package import KCDeviceIdentity

/// A TPM 2.0, through the library tpm2-tss.
///
/// A secret is sealed under the TPM's storage root key. No state of the boot is part of it, so that an update of the
/// firmware or the kernel locks nobody out.
package struct TPM: SealingChip {
    /// How a TPM is reached.
    ///
    /// Nothing but a value of this type says so, in particular no variable of the environment.
    package enum Transport: Hashable, Sendable {
        /// A device file of the kernel, through its resource manager.
        case device(path: String)
        /// A command that passes on what it reads and what is answered; for tests.
        case command(String)
    }

    /// The device file of the TPM of this machine.
    package static let devicePath = "/dev/tpmrm0"
    /// The TPM of this machine.
    package static let ofThisMachine = TPM(.device(path: devicePath))

    private let transport: Transport

    /// Uses the TPM at the end of `transport`.
    package init(_ transport: Transport) {
        self.transport = transport
    }

    /// Seals a secret under the storage root key.
    package func seal(_ secret: borrowing SecretBytes) throws(ChipFailure) -> SealedSecret {
        try seal(secret, SecretBytes(capacity: 0), as: TPMFormat.sealedTemplate)
    }

    /// Seals a secret under the storage root key, behind a password.
    package func seal(
        _ secret: borrowing SecretBytes, behind password: borrowing SecretBytes
    ) throws(ChipFailure) -> GuardedSecret {
        GuardedSecret(try seal(secret, password, as: TPMFormat.guardedTemplate))
    }

    private func seal(
        _ secret: borrowing SecretBytes, _ password: borrowing SecretBytes, as template: [UInt8]
    ) throws(ChipFailure) -> SealedSecret {
        let connection = try connect()
        let parent = try parent(connection)
        let session = try connection.session(with: parent)
        let parts = try connection.create(secret, password, as: template, under: parent, in: session)
        // The library keeps a copy of the last secret that it sealed until it seals another one.
        let zeros = SecretBytes(copying: [UInt8](repeating: 0, count: secret.count))
        _ = try connection.create(zeros, SecretBytes(capacity: 0), as: template, under: parent, in: session)
        return SealedSecret(parent: parent.hash, publicPart: parts.publicPart, privatePart: parts.privatePart)
    }

    private func parent(_ connection: TPMConnection) throws(ChipFailure) -> TPMConnection.Parent {
        // Not under whatever lies at the persistent handle: anybody who may use the owner hierarchy could have put it
        // there, and could remove it.
        do throws(ChipFailure) {
            return try connection.transientParent()
        } catch {
            guard error == .ownerPassword, let parent = try connection.persistentParent() else { throw error }
            return parent
        }
    }

    /// Opens what a TPM has sealed, if it was this one.
    package func unseal(_ sealed: SealedSecret) throws(ChipFailure) -> SecretBytes {
        try unseal(sealed, with: SecretBytes(capacity: 0), isGuarded: false)
    }

    /// Opens what a TPM has sealed behind a password, if it was this one.
    package func unseal(
        _ guarded: GuardedSecret, with password: borrowing SecretBytes
    ) throws(ChipFailure) -> SecretBytes {
        try unseal(guarded.sealed, with: password, isGuarded: true)
    }

    private func unseal(
        _ sealed: SealedSecret, with password: borrowing SecretBytes, isGuarded: Bool
    ) throws(ChipFailure) -> SecretBytes {
        let connection = try connect()
        // Before anything is sent: somebody between here and the TPM could have another key to offer.
        guard let parent = try parent(of: sealed, connection) else { throw .otherChip }
        // Not one step with the call below: no policy of a TPM can ask for its count, so tries at the same moment can
        // take some of the guesses that this leaves to others. The check guards no more than these: the TPM itself
        // counts and refuses within the call.
        if isGuarded { try facts(of: connection).requireGuess() }
        let session = try connection.session(with: parent)
        let secret = try connection.unseal(
            publicPart: sealed.publicPart, privatePart: sealed.privatePart, with: password,
            given: isGuarded ? .password : .sealed, under: parent, in: session)
        // The library keeps a copy of its last answer until there is one that is as long.
        try connection.capability(ctpm2_cap_commands, from: 0, count: 100)
        return secret
    }

    private func parent(
        of sealed: SealedSecret, _ connection: TPMConnection
    ) throws(ChipFailure) -> TPMConnection.Parent? {
        if let parent = try connection.persistentParent(), parent.hash == sealed.parent { return parent }
        let parent = try connection.transientParent()
        return parent.hash == sealed.parent ? parent : nil
    }

    /// True if this TPM sealed it, and was not cleared since.
    package func owns(_ sealed: SealedSecret) throws(ChipFailure) -> Bool {
        try parent(of: sealed, connect()) != nil
    }

    /// Returns what the TPM says about itself.
    package func facts() throws(ChipFailure) -> ChipFacts {
        try facts(of: connect())
    }

    private func facts(of connection: TPMConnection) throws(ChipFailure) -> ChipFacts {
        var values: [UInt32: UInt32] = [:]
        for group in [Property.fixed, Property.variable] {
            let answer = try connection.capability(ctpm2_cap_properties, from: group, count: 64)
            guard let properties = TPMFormat.properties(answer) else { throw .noAnswer }
            values.merge(properties) { $1 }
        }
        let maker = values[Property.manufacturer] ?? 0
        let letters = [24, 16, 8, 0].map { UInt8(maker >> $0 & 0xff) }.filter { (0x21...0x7e).contains($0) }
        let permanent = values[Property.permanent] ?? 0
        return ChipFacts(
            manufacturer: String(decoding: letters, as: UTF8.self),
            wrongGuesses: Int(values[Property.wrongGuesses] ?? 0), guessLimit: Int(values[Property.guessLimit] ?? 0),
            hasLockoutPassword: permanent & 1 << 2 != 0, isLockedOut: permanent & 1 << 9 != 0,
            secondsPerGuess: Int(values[Property.secondsPerGuess] ?? 0))
    }

    /// Numbers of properties (TPM 2.0 Library, part 2, TPM_PT).
    private enum Property {
        static let (fixed, variable): (UInt32, UInt32) = (0x100, 0x200)
        static let manufacturer: UInt32 = 0x105
        static let permanent: UInt32 = 0x200
        static let (wrongGuesses, guessLimit, secondsPerGuess): (UInt32, UInt32, UInt32) = (0x20e, 0x20f, 0x210)
    }

    private func connect() throws(ChipFailure) -> TPMConnection {
        switch transport {
        case .command(let command): return try TPMConnection("cmd:\(command)")
        case .device(let path):
            // The library says only that it failed.
            guard unsafe access(path, F_OK) == 0 else { throw .absent(path: path) }
            guard unsafe access(path, R_OK | W_OK) == 0 else { throw .noAccess(path: path) }
            return try TPMConnection("device:\(path)")
        }
    }
}
