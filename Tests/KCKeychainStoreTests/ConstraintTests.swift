import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainKeys
@testable import KCKeychainStore

/// Items that ask for the passcode at each read.
@Suite("Items with a constraint") struct ConstraintTests: SessionTesting {
    let bench: Bench
    let session = KeychainSession(retention: MemoryRetention(), suspendedTime: { 0 })

    init() throws { bench = try Bench() }

    /// A keychain as a new process finds it while it is unlocked.
    private func resumed() throws -> Keychain {
        let keychain = try bench.open()
        let state = try session.resume(keychain)
        try #require(state == .unlocked)
        return keychain
    }

    @Test("No session opens them; the passcode does, for the object that was given it, until it is told to forget")
    func sessions() throws {
        let created = try bench.create(passcode: "open")
        let items = try created.fillAsking()
        let plain = try created.add(password("plain"), secret: "plain".secret, now: moment(2))
        try unlock()
        let keychain = try resumed()
        #expect(try keychain.text(of: plain) == "plain")
        for (constraint, item) in items {
            #expect(!keychain.canOpen(item.protection) && keychain.canSeal(item.protection))
            #expect(throws: KeychainStoreError.presenceNeeded(constraint)) { try keychain.text(of: item) }
        }
        try session.unlock(keychain, passcode: "open".secret, now: moment(20))
        for (constraint, item) in items { #expect(try keychain.text(of: item) == constraint.rawValue) }
        keychain.forgetPresence()
        #expect(try keychain.text(of: plain) == "plain")
        for (constraint, item) in items {
            #expect(throws: KeychainStoreError.presenceNeeded(constraint)) { try keychain.text(of: item) }
        }
        let other = try resumed()
        #expect(items.values.allSatisfy { !other.canOpen($0.protection) })
    }

    @Test("They are added, deleted and listed without the passcode, but not changed")
    func changes() throws {
        _ = try bench.create(passcode: "open")
        try unlock()
        let keychain = try resumed()
        let items = try keychain.fillAsking()
        let item = try #require(items[.userPresence])
        #expect(throws: KeychainStoreError.presenceNeeded(.userPresence)) {
            try keychain.update(matching: ItemQuery(item), set: [.labl: .text("new")], now: moment(3))
        }
        #expect(throws: KeychainStoreError.presenceNeeded(.userPresence)) {
            try keychain.update(matching: ItemQuery(item), set: [.accc: nil], now: moment(3))
        }
        #expect(try keychain.items().count == 2)
        try keychain.unlock(passcode: "open".secret, now: moment(4))
        let lifted = try keychain.update(matching: ItemQuery(item), set: [.accc: nil], now: moment(5))
        #expect(lifted.map { $0.constraint } == [nil])
        #expect(try resumed().text(of: #require(lifted.first)) == "user-presence")
        try keychain.delete(matching: ItemQuery(#require(items[.devicePasscode])), now: moment(6))
        #expect(try keychain.items().count == 1)
    }

    @Test("Neither the class key nor the presence key alone opens one, and neither alone can forge one")
    func bothKeys() throws {
        let item = try password("a", [.accc: .text("user-presence")]).completed(now: moment(0), secretSize: 6)
        let (mine, other) = (
            try ClassKeys(generatingWithPasscode: true), try ClassKeys(generatingWithPasscode: true)
        )
        var sealer = try ItemSealer()
        var blob = SecretBytes(capacity: 100)
        var opened = SecretBytes(capacity: 100)
        func opens(_ classKeys: ClassKeys, _ presence: ClassKeys) throws -> Bool {
            let key = OpeningKey(
                classKey: try #require(classKeys[.whenUnlocked]), presence: presence.presenceKeys[.userPresence])
            return try blob.withBytes { try sealer.open($0, under: key, into: &opened) }
        }
        sealer.begin(item)
        let key = try #require(mine.sealingKey(item.protection))
        try "secret".secret?.withBytes { try sealer.seal($0, under: key, into: &blob) }
        #expect(blob.withBytes { $0[0] } == SealedFrame.Format.constrained.rawValue)
        #expect(try opens(mine, mine))
        #expect(try !opens(mine, other))
        #expect(try !opens(other, mine))
        // A seal made with the public key, which lies in the file, and another class key.
        let forged = SealingKey(classKey: try #require(other[.whenUnlocked]), presence: key.presence)
        try "forged".secret?.withBytes { try sealer.seal($0, under: forged, into: &blob) }
        #expect(try !opens(mine, mine))
    }

    @Test("Each seal has a share of its own, and one that is no point of the curve opens nothing")
    func shares() throws {
        let keychain = try bench.create(passcode: "open")
        let item = try #require(try keychain.fillAsking()[.userPresence])
        func blob() throws -> [UInt8] { try keychain.storedSecret(of: item) }
        let first = try blob()
        try keychain.update(matching: ItemQuery(item), set: [.icmt: .text("new")], now: moment(3))
        #expect(try blob()[1..<33] != first[1..<33])
        for share in [[UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31)] {
            let stored = [first[0]] + share + first[33...]
            try bench.alter("UPDATE genp SET data = ? WHERE uuid = ?", [.blob(stored), .blob(item.uuid.bytes)])
            #expect(throws: KeychainStoreError.itemDamaged(item.uuid)) { try keychain.text(of: item) }
        }
    }

    @Test("A new passcode seals them again, and keeps the keys of archives from before")
    func newPasscode() throws {
        let keychain = try bench.create(passcode: "open")
        let items = try keychain.fillAsking()
        let before = keychain.keybag
        try keychain.setPasscode(current: "open".secret, new: "next".secret, cost: Bench.cost, now: moment(2))
        for (constraint, item) in items { #expect(try keychain.text(of: item) == constraint.rawValue) }
        let again = try bench.open()
        try again.unlock(passcode: "next".secret, now: moment(3))
        for (constraint, item) in items { #expect(try again.text(of: item) == constraint.rawValue) }
        let archived = try ArchivedKeybag(
            text: String(decoding: before.text, as: UTF8.self), of: bench.device.id, deviceKey: bench.device)
        #expect(try again.form(ofSecretsUnder: archived) == .plain)
        #expect(archived.isOpen && archived.opensConstrained)
        // A keychain that is unlocked by a session lends what it has.
        again.forgetPresence()
        let lent = try ArchivedKeybag(
            text: String(decoding: before.text, as: UTF8.self), of: bench.device.id, deviceKey: bench.device)
        #expect(try again.form(ofSecretsUnder: lent) == .plain)
        #expect(lent.isOpen && !lent.opensConstrained)
    }

    @Test("The passcode stays as long as there is one, and a keychain without a passcode takes none")
    func passcodeRemoval() throws {
        let keychain = try bench.create(passcode: "open")
        let items = try keychain.fillAsking()
        #expect(throws: KeychainStoreError.itemsAskForPasscode(2)) {
            try keychain.setPasscode(current: "open".secret, new: nil, now: moment(2))
        }
        #expect(keychain.hasPasscode)
        for item in items.values { try keychain.delete(matching: ItemQuery(item), now: moment(3)) }
        try keychain.setPasscode(current: "open".secret, new: nil, now: moment(4))
        #expect(throws: KeychainStoreError.passcodeNotSet) { try keychain.fillAsking() }
    }

    @Test("A device key that replaces the former opens them with the same passcode")
    func move() throws {
        let keychain = try bench.create(passcode: "open")
        let items = try keychain.fillAsking()
        let key = try DeviceKey.generate()
        try keychain.move(to: key, passcode: "open".secret, now: moment(2))
        let moved = try Keychain.open(
            at: bench.path, deviceKey: key, lockWait: Bench.patience, minimumCost: ScryptCost(logN: 1))
        try moved.unlock(passcode: "open".secret, now: moment(3))
        for (constraint, item) in items { #expect(try moved.text(of: item) == constraint.rawValue) }
    }

    @Test("They are counted by protection, with an index that holds no other item")
    func counts() throws {
        let keychain = try bench.create(passcode: "open")
        _ = try keychain.fill()
        #expect(try keychain.constrainedProtections().isEmpty)
        try keychain.fillAsking()
        try keychain.add(
            password("bound", [.pdmn: .text("aku"), .accc: .text("user-presence")]), secret: "x".secret, now: moment(2))
        #expect(
            try keychain.constrainedProtections() == [
                Protection(.whenUnlocked, .userPresence): 1, Protection(.whenUnlocked, .devicePasscode): 1,
                Protection(.whenUnlockedThisDeviceOnly, .userPresence): 1,
            ])
        let plan = try bench.alter("EXPLAIN QUERY PLAN SELECT count(*) FROM genp WHERE \"accc\" IS NOT NULL")
        #expect("\(plan)".contains("genp_accc"))
    }

    @Test("A keybag without presence keys, or with half of them, is refused")
    func incomplete() throws {
        let text = String(decoding: try bench.create(passcode: "open").keybag.text, as: UTF8.self)
        let member = try #require(text.firstMatch(of: /,"presence":{[^}]*}/)).0
        let half = try #require(text.firstMatch(of: /,"user-presence":\[[^\]]*\]/)).0
        for part in [member, half] {
            #expect(throws: KeybagFailure.damaged("the keybag is not in its canonical form")) {
                try Keybag(text: Array(text.replacing(part, with: "").utf8).span)
            }
        }
    }
}
