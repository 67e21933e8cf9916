internal import ArgumentParser
struct KeychainCommand: ParsableCommand { static let configuration = CommandConfiguration(commandName: "keychain") }
struct ItemCommand: ParsableCommand { static let configuration = CommandConfiguration(commandName: "item") }
