import KCTestSupport
import Testing

/// Runs the program against a real GNOME Keyring daemon.
@Suite("The desktop keyring, which binds nothing to this device", .waitsForPrograms)
struct DesktopBindingTests {
    private let shell: DesktopShell

    init() throws { shell = try DesktopShell(desktop: DesktopTests.judge.get(), preparation: desktopFunctions) }

    private static let items = """
        $KCBACKUP keychain create --passcode file:pw 2>/dev/null
        for pdmn in ak aku dku akpu; do
          printf '{"class":"genp","attributes":{"svce":"%s","pdmn":"%s"},"secret":"tulip-%s"}\\n' $pdmn $pdmn $pdmn
        done >items.jsonl
        chmod 600 items.jsonl
        $KCBACKUP import items.jsonl --passcode file:pw
        $KCBACKUP create -r "$key" own.kcb --passcode file:pw 2>/dev/null

        """

    @Test("A restore writes no ThisDeviceOnly item of a keychain into the keyring, unless the binding is given up")
    func restored() throws {
        let text = try shell.run(
            Self.items + """
                keyring
                $KCBACKUP restore own.kcb -i key.txt --keychain secret-service: 2>&1
                dump | grep -c . || true
                $KCBACKUP restore own.kcb -i key.txt --keychain secret-service: --dry-run --json 2>/dev/null \
                  | jq -c '.staysBehind[].reason'
                try $KCBACKUP restore own.kcb -i key.txt --keychain secret-service: --require-all
                try $KCBACKUP restore own.kcb -i key.txt --give-up-device-binding --passcode file:pw
                $KCBACKUP restore own.kcb -i key.txt --keychain secret-service: --give-up-device-binding --json \
                  | jq -c '[.plan.create, .plan["stay-behind"]]'
                # The mark stays, so that backups of the keyring bind them again.
                $KCBACKUP create --keychain secret-service: -r "$key" desk.kcb --json 2>/dev/null \
                  | jq .boundToThisDevice
                """)
        #expect(
            text == """
                2 items stay behind: ThisDeviceOnly: the keyring of the desktop cannot bind it to this device
                  generic password 'aku'
                  generic password 'dku'
                '--give-up-device-binding' writes them there all the same: any device can then open them with the password of the keyring
                1
                "not-bound-there"
                "not-bound-there"
                4 error: 2 items would stay behind, and all were required; nothing was written
                64 error: '--give-up-device-binding' is for the desktop keyring
                [2,0]
                2

                """)
    }

    @Test("Items that were bound in the keyring come back to it, and an archive of them elsewhere stays bound")
    func ownItems() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP add login mail old a 1
            $KCBACKUP item update --keychain secret-service: --label mail --set accessible=aku -v 2>&1 | grep mark
            $KCBACKUP create --keychain secret-service: -r "$key" desk.kcb 2>/dev/null
            delete login/1
            $KCBACKUP restore desk.kcb -i key.txt --json | jq -c '[.plan.create, .plan["stay-behind"]]'
            $KCBACKUP keychain create --no-passcode 2>/dev/null
            # Through a keychain it is an item of that keychain.
            $KCBACKUP restore desk.kcb -i key.txt --keychain login --json | jq -c '[.plan.create, .plan["stay-behind"]]'
            $KCBACKUP create --keychain login -r "$key" own.kcb 2>/dev/null
            delete login/2
            $KCBACKUP restore own.kcb -i key.txt --keychain secret-service: --json 2>/dev/null \
              | jq -c '[.plan.create, .plan["stay-behind"]]'
            """)
        #expect(
            text == """
                ThisDeviceOnly is a mark there: backups bind the item to this device, the file of the keyring does not
                [1,0]
                [1,0]
                [0,1]

                """)
    }
}
