internal import ArgumentParser

/// `kcbackup item`: commands for items.
struct ItemCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "item",
        abstract: "Add, list, find, update and delete the items of a keychain.",
        subcommands: [
            ItemAddCommand.self, ItemListCommand.self, ItemFindCommand.self,
            ItemUpdateCommand.self, ItemDeleteCommand.self,
        ])
}
