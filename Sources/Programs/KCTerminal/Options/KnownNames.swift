package import ArgumentParser
internal import KCBackupJobs
internal import KCDeviceIdentity
internal import KCHomeFiles
internal import KCItemStores
package import KCLocalKeychains
internal import KCReportText
package import KCStoreTasks

/// The names for shell completion that only this device knows.
///
/// If they cannot be read, none are offered: a shell cannot show errors during completion, and the command will report
/// them.
package enum KnownNames {
    /// Where the names are looked up; set while a command line is parsed.
    @TaskLocal package static var place: Place?

    /// The parts of the `World` that are needed here.
    package struct Place: Sendable {
        package let folder: DataFolder
        package let machineIDPath: String

        package init(_ machine: Machine) {
            folder = machine.dataFolder
            machineIDPath = machine.machineIDPath
        }
    }

    /// The keychains in the data folder.
    package static let keychains = CompletionKind.custom { _, _, _ in namesOfKeychains }

    /// The keychains, and the desktop keyring.
    package static let keychainsAndKeyring = CompletionKind.custom { _, _, _ in
        namesOfKeychains + [DesktopKeyring.all.name]
    }

    /// The keychains, and the other stores that have a fixed name.
    package static let stores = CompletionKind.custom { _, _, _ in
        namesOfKeychains + [DesktopKeyring.all.name] + HomeRoot.allCases.map(\.storeName)
    }

    /// The same, and the beginning of the name of a file, for what is read.
    package static let readableStores = CompletionKind.custom { _, _, _ in
        namesOfKeychains + [DesktopKeyring.all.name] + HomeRoot.allCases.map(\.storeName) + ["file:"]
    }

    private static var namesOfKeychains: [String] { look { place in try LocalKeychain.names(in: place.folder) } }

    /// The jobs of `schedule`.
    package static let jobs = CompletionKind.custom { _, _, _ in look { place in try Jobs.names(in: place.folder) } }

    /// The trusted devices.
    package static let trustedDevices = CompletionKind.custom { _, _, _ in look(trusted) }

    /// This device and the trusted devices.
    package static let devices = CompletionKind.custom { _, _, _ in
        look { place in
            let own = try LocalDevice(place.folder, machineIDPath: place.machineIDPath).status().device
            return try [own.description] + trusted(place)
        }
    }

    private static func trusted(_ place: Place) throws -> [String] {
        let device = LocalDevice(place.folder, machineIDPath: place.machineIDPath)
        return try device.trusted(by: device.key()).list().keys.map(\.description).sorted()
    }

    private static func look(_ names: (Place) throws -> [String]) -> [String] {
        guard let place else { return [] }
        do {
            try place.folder.requireOwn()
            // Each line of the answer is a name, and a control character would reach the terminal.
            return try names(place).filter { name in
                !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
            }
        } catch {
            return []
        }
    }
}
