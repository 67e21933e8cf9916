import Foundation
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainKeys
import KCKeychainModel
import KCTestSupport

@testable import KCKeychainStore
@testable import KeychainSecurity

/// A keychain of the library, on which the steps are performed in parallel to the model.
final class ModelWorld {
    private let user: UserData
    private let device: DeviceKey
    private var clients: [KeychainClient] = []
    private let session = Session()

    /// The state shared by all programs.
    private final class Session {
        var now = Timestamp.reference
        var lockState = PlainStep.LockState.unlocked
        /// The number of passcode changes.
        var generation = 0
        /// The class keys of the new keychain, kept so that not every program needs to run scrypt.
        var firstKeys: ClassKeys?
    }

    /// The class keys that a program has obtained, and their generation.
    private final class Unlocked {
        var keys: (generation: Int, ClassKeys)?
    }

    init(programs: [[String]], now: Int64, hasPasscode: Bool) throws {
        user = try UserData(inMemory: true)
        session.now = .reference.advanced(byMicroseconds: now)
        try user.makeKeychain(hasPasscode: hasPasscode, now: session.now)
        device = try user.device.key()
        for groups in programs {
            var configuration = KeychainClient.Configuration()
            configuration.folder = user.data
            configuration.machineIDPath = user.machineIDPath
            configuration.groups = AccessGroups(ordered: groups)
            configuration.clock = { [session] in session.now }
            let unlocked = Unlocked()
            configuration.resume = { [session] in try Self.resume($0, session, unlocked) }
            clients.append(KeychainClient(configuration))
        }
    }

    /// Acts as a session: provides the class keys it has.
    private static func resume(_ keychain: Keychain, _ session: Session, _ unlocked: Unlocked) throws {
        // Notices a new passcode first, as a session does.
        _ = try keychain.wrongPasscodeCount()
        if let (generation, keys) = unlocked.keys, generation == session.generation {
            keychain.classKeys = keys
        } else {
            if session.generation == 0, let keys = session.firstKeys {
                keychain.classKeys = keys
            } else {
                try keychain.unlock(passcode: passcode(true), now: session.now)
                if session.generation == 0 { session.firstKeys = keychain.classKeys }
            }
            unlocked.keys = (session.generation, keychain.classKeys)
        }
        switch session.lockState {
        case .unlocked: break
        case .locked: keychain.lock()
        case .beforeFirstUnlock: keychain.lock(untilFirstUnlock: true)
        }
    }

    /// Performs a step, and returns nil if it is not one of the four calls.
    func perform(_ step: PlainStep, _ bytes: (PlainReference) -> [UInt8]) throws -> (OSStatus, AnyObject?)? {
        switch step {
        case .clock(let microseconds): session.now = session.now.advanced(byMicroseconds: microseconds)
        case .lock(let state): session.lockState = state
        case .passcode(let isSet):
            let keychain = try Keychain.open(at: user.keychainPath, deviceKey: device)
            try keychain.setPasscode(
                current: Self.passcode(true), new: Self.passcode(isSet),
                cost: ScryptCost(logN: Keybag.costRange.lowerBound),
                now: session.now)
            session.generation += 1
        case .call(let call, let program): return answer(call, clients[program], bytes)
        }
        return nil
    }

    private func answer(
        _ call: PlainCall, _ client: KeychainClient, _ bytes: (PlainReference) -> [UInt8]
    ) -> (OSStatus, AnyObject?) {
        let dictionary = call.dictionary.mapValues { $0.object(bytes) } as CFDictionary
        var result: AnyObject?
        let status =
            switch call.kind {
            case .add: call.takesResult ? client.add(dictionary, &result) : client.add(dictionary, nil)
            case .copy:
                call.takesResult ? client.copyMatching(dictionary, &result) : client.copyMatching(dictionary, nil)
            case .update: client.update(dictionary, call.changes.mapValues { $0.object(bytes) } as CFDictionary)
            case .delete: client.delete(dictionary)
            }
        return (status, result)
    }

    private static func passcode(_ isSet: Bool) -> SecretBytes? {
        isSet ? SecretBytes(copying: UserData.passcode.utf8) : nil
    }
}
