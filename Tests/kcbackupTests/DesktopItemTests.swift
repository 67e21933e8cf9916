import Foundation
import KCTestSupport
import Testing

/// Runs the program against a real GNOME Keyring daemon.
@Suite("Items in the desktop keyring", .waitsForPrograms)
struct DesktopItemTests {
    private let shell: DesktopShell

    init() throws { shell = try DesktopShell(desktop: DesktopTests.judge.get(), preparation: "keys") }

    @Test("A command gets a secret of the keyring, and the environment is otherwise as it was")
    func exec() throws {
        let text = try shell.run(
            """
            keyring
            printf 'tulip' | secret-tool store --label Forge service forge account ada
            printf 'lily' | secret-tool store --label "Forge two" service forge account ada2
            run() { $KCBACKUP exec --keychain secret-service: "$@"; }
            run --with T=Forge --with-file F="Forge two" -- sh -c 'echo "$T $(cat "$F")"'
            run --with T=service=forge,account=ada2 -- printenv T
            variables() { "$@" env | grep -v '^\\(T\\|_\\)=' | sort; }
            variables >usual
            variables run --with T=Forge -- | cmp - usual && echo same
            run --with T=service=forge -- echo started 2>&1 | head -1
            lock login
            run --with T=Forge -- echo started 2>&1 | head -1
            """)
        #expect(
            text == """
                tulip lily
                lily
                same
                kcbackup: error: 2 items match for 'T', and one is needed; nothing was started
                kcbackup: error: collection 'Login' of the Secret Service is locked

                """)
    }

    @Test("Inspect shows the keyring without secrets, and handles locked collections as create does")
    func inspect() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP fill 2 4
            try() { local status=0; "$@" 2>messages || status=$?; echo "$status $(head -1 messages | cut -c11-)"; }
            $KCBACKUP inspect secret-service: --columns service,account,collection | sed 's/ *$//'
            $KCBACKUP inspect "secret-service:Collection 0" --server none --json
            $KCBACKUP inspect secret-service: --json | grep -c secret- || true
            lock Collection_5f0
            try $KCBACKUP inspect secret-service:
            try $KCBACKUP inspect secret-service: --unlock </dev/null
            try $KCBACKUP inspect secret-service: --html x.html
            try $KCBACKUP inspect key.txt --skip-locked
            try $KCBACKUP inspect secret-service: --skip-locked --service host3.example.org --columns service |
              grep -v Login
            $KCBACKUP inspect "secret-service:Collection 0" --passcode file:pw --json | jq -c .collections
            """)
        #expect(
            text == """
                desktop keyring: 5 items
                collection 'Login': 0 items (default)
                collection 'Collection 0': 2 items
                collection 'Größ1': 3 items

                SERVICE            ACCOUNT  COLLECTION
                host0.example.org           Collection 0
                host2.example.org  ada      Collection 0
                host3.example.org  ada      Größ1
                host3.example.org  ada      Größ1
                host1.example.org  ada      Größ1
                {"keychain":"secret-service:Collection 0","collections":[{"label":"Collection 0","default":false,"locked":false,"items":2}],"items":[]}
                1
                14 error: collection 'Collection 0' of the Secret Service is locked
                64 error: '--unlock' needs a terminal
                64 error: '--html' is for archives, and this is not one
                64 error: '--skip-locked' is for the desktop keyring
                desktop keyring: 3 items
                collection 'Collection 0': 2 items (locked)
                collection 'Größ1': 3 items

                SERVICE
                host3.example.org
                host3.example.org

                2 items shown
                3 warning: collection 'Collection 0' is locked: its 2 items are left out
                [{"label":"Collection 0","default":false,"locked":false,"items":2}]

                """)
    }

    @Test("Import refuses the keyring; a file restored into it through an archive changes nothing the second time")
    func imported() throws {
        let text = try shell.run(
            """
            keyring
            printf secret | secret-tool store --label=One service one
            printf 'name,url,username,password\nBank,https://bank.example.org,ada,x\nPost,https://post.example.org,ada,y\n' >logins.csv
            chmod 600 logins.csv
            status=0; $KCBACKUP import logins.csv --remove-from-file --into secret-service: 2>messages || status=$?
            echo $status; cut -c11- messages
            $KCBACKUP create --keychain file:logins.csv -r "$key" logins.kcb
            for round in 1 2; do
              $KCBACKUP restore logins.kcb -i key.txt --keychain secret-service: --json | jq -c .plan
            done
            secret-tool lookup server post.example.org user ada; echo
            """)
        #expect(
            text == """
                64
                error: '--remove-from-file' is for kcbackup keychains, and this is the desktop keyring
                hint: leave out '--remove-from-file'
                {"create":2,"update":0,"same":0,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                {"create":0,"update":0,"same":2,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                y

                """)
    }

    @Test("A password that can be read only once creates and opens all collections")
    func onePassword() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP fill 3 6
            $KCBACKUP create --keychain secret-service: -r "$key" a.kcb
            end
            rm -r .local/share/keyrings
            keyring
            $KCBACKUP restore a.kcb -i key.txt --passcode fd:3 --json 3< <(echo pw) | jq -c .plan
            for name in Collection_5f0 Gr_c3_b6_c3_9f1; do lock $name; done
            $KCBACKUP restore a.kcb -i key.txt --passcode fd:3 --json 3< <(echo pw) | jq -c .plan
            """)
        #expect(
            text == """
                {"create":7,"update":0,"same":0,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                {"create":0,"update":0,"same":7,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}

                """)
    }

    @Test("A restore into a missing collection creates it once, or writes nothing")
    func newCollection() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP fill 2 6
            $KCBACKUP create --keychain secret-service: -r "$key" a.kcb
            labels() { $KCBACKUP item list --keychain secret-service: --json | jq -c '[.items[].extra["kcbackup:collection"]] | group_by(.) | map([.[0], length])'; }
            try() { local status=0; "$@" 2>messages || status=$?; echo "$status $(head -1 messages | cut -c11-)"; }
            restore() { $KCBACKUP restore a.kcb -i key.txt --keychain "secret-service:New one" --json "$@" | jq -c .plan; }
            try $KCBACKUP restore a.kcb -i key.txt --keychain "secret-service:New one"
            try $KCBACKUP restore a.kcb -i key.txt --keychain "secret-service:New one" --unlock </dev/null
            restore --passcode file:pw --dry-run
            labels
            restore --passcode file:pw
            restore --passcode file:pw
            restore
            labels
            try $KCBACKUP item list --keychain secret-service:None
            """)
        #expect(
            text == """
                14 error: collection 'New one' does not exist yet, and a new one needs a password
                64 error: '--unlock' needs a terminal
                {"create":7,"update":0,"same":0,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                [["Collection 0",3],["Größ1",4]]
                {"create":7,"update":0,"same":0,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                {"create":0,"update":0,"same":7,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                {"create":0,"update":0,"same":7,"keep":0,"stay-behind":0,"fail":0,"not-selected":0,"remove":0}
                [["Collection 0",3],["Größ1",4],["New one",7]]
                10 error: the Secret Service has no collection 'None'

                """)
    }

    @Test("Items of the keyring are deleted, others stay, and undo brings the deleted ones back")
    func deleting() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP fill 1 6
            names() { $KCBACKUP item list --json | jq -c '[.items[].attributes | .svce // .srvr | .[:5]] | sort'; }
            delete() { local status=0; $KCBACKUP item delete "$@" 2>messages || status=$?; echo $status; }
            names | tee before
            delete --service host4.example.org
            names
            secret-tool lookup service host4.example.org || echo gone
            delete --service host4.example.org; cat messages
            # Several, and nobody to ask.
            delete --service host3.example.org
            names
            delete --service host3.example.org --yes
            names
            $KCBACKUP undo --list --json | jq -c '[.undo[].command]'
            $KCBACKUP undo --list | grep -cE '^[0-9TZ-]+ +[0-9-]{10} [0-9:]{5} +item delete '
            $KCBACKUP undo --yes 2>/dev/null
            names
            $KCBACKUP undo --yes 2>/dev/null "$($KCBACKUP undo --list --json | jq -r '.undo[-1].name')"
            names | diff before - && secret-tool lookup service host4.example.org | od -An -tx1
            """)
        #expect(
            text == """
                ["host0","host1","host2","host3","host3","host4","host5"]
                0
                ["host0","host1","host2","host3","host3","host5"]
                gone
                10
                kcbackup: error: no item of the desktop keyring matches
                kcbackup: hint: 'kcbackup item list --keychain secret-service:' shows what there is
                4
                ["host0","host1","host2","host3","host3","host5"]
                0
                ["host0","host1","host2","host5"]
                ["item delete","item delete"]
                2
                ["host0","host1","host2","host3","host3","host5"]
                 73 65 63 72 65 74 2d 34 0a 78

                """)
    }

    @Test(
        "A change of a store that nobody named says first which one it is, and the tour's choice keeps to its keychain")
    func unnamedStore() throws {
        let text = try shell.run(
            """
            keyring
            item() { local verb=$1; shift; $KCBACKUP item $verb --service tour -v "$@" 2>&1 | head -1; }
            item add --no-secret
            item update --set label=x
            item delete
            item add --no-secret --keychain secret-service:
            item delete --keychain secret-service:
            export XDG_DATA_HOME=$PWD/tour
            $KCBACKUP keychain default login
            item add --no-secret
            """)
        #expect(
            text == """
                added to the desktop keyring: generic password 'tour'
                changed in the desktop keyring: generic password 'x'
                deleted from the desktop keyring: generic password 'x'
                added: generic password 'tour'
                deleted: generic password 'tour'
                login
                kcbackup: error: there is no keychain 'login'

                """)
    }

    @Test("An item in the keyring is shown, changed and made ThisDeviceOnly")
    func items() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP fill 1 6
            find() { $KCBACKUP item find --keychain secret-service: --service host3.example.org "$@"; }
            $KCBACKUP item list --keychain secret-service: --json | jq '.items | length'
            find --uuid "$(find --json | jq -r '.items[0].uuid')" --reveal | od -An -tx1
            printf other >secret
            chmod 600 secret
            $KCBACKUP item update --keychain secret-service: --service host3.example.org --yes \
              --set accessible=WhenUnlockedThisDeviceOnly --set label=Mine --secret file:secret
            find --json | jq -c '.items[] | [.accessibility, .attributes.labl, .size]'
            secret-tool lookup service host3.example.org; echo
            update() { local status=0; $KCBACKUP item update --keychain secret-service: "$@" 2>messages || status=$?
              echo "$status $(head -1 messages | cut -c11-)"; }
            update --service host3.example.org --yes --set account=eve --set label=Ours
            secret-tool lookup service host3.example.org user eve; echo
            update --service host3.example.org --yes --set comment=x
            update --service host3.example.org --yes --remove service
            # Programs could not tell it from the other one.
            update --service host4.example.org --set service=host3.example.org --set account=eve
            update --server host1.example.org --set protocol=htps --set port=8443 --set account=bob --set path=/x
            find() { $KCBACKUP item find --keychain secret-service: --server host1.example.org "$@"; }
            find --json | jq -c '.items[] | [.attributes.acct, .attributes.port, .attributes.path, .attributes.srvr]'
            secret-tool search --all user bob 2>/dev/null | grep -c 'secret = '
            update --server host1.example.org --remove port
            find --json | jq -c '.items[].attributes.port'
            update --service host0.example.org --set accessible=akpu
            update --service host0.example.org --remove accessible
            update --service host0.example.org --remove label
            $KCBACKUP create --keychain secret-service: -r "$key" a.kcb --json | jq .boundToThisDevice
            """)
        #expect(
            text == """
                7
                 73 65 63 72 65 74 00 33 0a 78
                ["WhenUnlockedThisDeviceOnly","Mine",5]
                ["WhenUnlockedThisDeviceOnly","Mine",5]
                other
                0 \("")
                other
                64 error: the item in the desktop keyring does not allow this change of 'comment'
                64 error: the item in the desktop keyring does not allow this change of 'service'
                16 error: the desktop keyring has an item with the same unique key
                0 \("")
                ["bob",8443,"/x","host1.example.org"]
                1
                0 \("")
                null
                0 \("")
                0 warning: 1 item was ThisDeviceOnly: from now on, backups of it open on any device, and exports contain it
                64 error: the item in the desktop keyring does not allow this change of 'label'
                2

                """)
    }

    @Test("An update changes only what was asked for, even if a program stores a password while it asks")
    func updateRace() throws {
        let text = try shell.run(
            """
            keyring
            export update="$KCBACKUP item update --keychain secret-service: --class genp"
            $DESKTOP add login A old1 d 1; $DESKTOP add login B old2 d 2
            printf 'theirs' >theirs
            # The secret is read after the items; meanwhile a program changes one of them.
            try() { local status=0; "$@" >/dev/null 2>messages || status=$?; echo "$status $(grep error: messages | cut -c11-)"; }
            try $update --yes --secret "cmd:$DESKTOP add login C c e 1 >&2; $DESKTOP secret login/1 changed >&2; printf new"
            $DESKTOP dump | grep -c 6e6577 || true
            try $update --yes --set accessible=aku
            $DESKTOP dump | grep -o '6f6c6432\\|6368616e676564' | sort
            $KCBACKUP undo --list --keychain secret-service: --json | jq -c '[.undo[].items]'
            $KCBACKUP undo --keychain secret-service: --yes --quiet
            $DESKTOP dump | grep -c accessible || true
            try $update --yes --no-undo --set accessible=aku
            $KCBACKUP undo --list --keychain secret-service: --json | jq -c '[.undo[].items]'
            """)
        #expect(
            text == """
                11 error: the desktop keyring was changed since the items were shown; nothing was written
                0
                0 \("")
                6368616e676564
                6f6c6432
                [3]
                0
                0 \("")
                [3]

                """)
    }

    @Test("An item is added once, can be taken back, and is refused if the keyring cannot hold it")
    func adding() throws {
        let text = try shell.run(
            """
            keyring
            from="--keychain secret-service:"
            add() { local status=0; $KCBACKUP item add $from "$@" >/dev/null 2>messages || status=$?
              echo "$status $(grep error: messages | cut -c11-)"; }
            add --service wi-fi --account ada --secret "cmd:printf hush"
            add --service wi-fi --account ada --no-secret
            add --server mail.example.org --account bob --label Mail --secret "cmd:printf post"
            for item in wi-fi Mail; do $KCBACKUP item find $item $from --reveal; echo; done
            add --class keys --label Key --no-secret
            add --service x --group team --no-secret
            add --service x --synchronizable --no-secret
            add --service x --accessible akpu --no-secret
            add --service x --accessible aku --no-secret
            $KCBACKUP item list $from --json | jq -c '[.items[].accessibility] | sort'
            $KCBACKUP undo $from --yes --quiet
            $KCBACKUP item list $from --json | jq -c '[.items[].attributes.labl] | sort'
            from=--keychain=secret-service:Nowhere
            add --service x --no-secret
            """)
        #expect(
            text == """
                0 \("")
                16 error: the desktop keyring has an item with the same unique key
                0 \("")
                hush
                post
                64 error: '--class' is for kcbackup keychains, and this is the desktop keyring
                64 error: an item of the desktop keyring cannot have this value of 'group'
                64 error: an item of the desktop keyring cannot have this value of 'synchronizable'
                64 error: an item of the desktop keyring cannot have this value of 'accessibility'
                0 \("")
                ["WhenUnlocked","WhenUnlocked","WhenUnlockedThisDeviceOnly"]
                ["Mail","wi-fi"]
                10 error: the Secret Service has no collection 'Nowhere'

                """)
    }

    @Test("The keyring is exported without an archive, except what is bound to this device or locked")
    func export() throws {
        let text = try shell.run(
            """
            keyring
            export from="--keychain secret-service:"
            $KCBACKUP item add $from --service forum --account ada --secret "cmd:printf hush"
            $KCBACKUP item add $from --service bank --account ada --accessible aku --secret "cmd:printf gold"
            try() { local status=0; "$@" >result 2>messages || status=$?; echo "$status $(grep -c skip-locked messages || true)"; cat messages; }
            try $KCBACKUP export $from --to csv --plaintext -o out.csv
            cut -d, -f 1,3,4 out.csv
            $DESKTOP fill 1 2
            lock Collection_5f0
            try $KCBACKUP export $from --to csv --plaintext -o locked.csv | head -2
            try $KCBACKUP item list $from | head -2
            $KCBACKUP export forum $from --passcode file:pw --to csv --plaintext -o later.csv -q 2>/dev/null
            wc -l <later.csv
            """)
        #expect(
            text == """
                0 0
                stays: generic password 'bank', account 'ada': ThisDeviceOnly: never leaves its device
                kcbackup: warning: 'out.csv' holds the secrets of 1 item in the clear; delete it when it is no longer needed
                Title,Username,Password
                forum,ada,hush
                14 0
                kcbackup: error: collection 'Collection 0' of the Secret Service is locked
                14 0
                kcbackup: error: collection 'Collection 0' of the Secret Service is locked
                2

                """)
    }

    @Test("Items with equal attributes can be changed, and none becomes equal to another")
    func equalItems() throws {
        let text = try shell.run(
            """
            keyring
            update() { local status=0; $KCBACKUP item update --keychain secret-service: "$@" --yes >/dev/null 2>messages || status=$?
              echo "$status $(grep error: messages | cut -c11-)"; }
            $DESKTOP add login A a d 1; $DESKTOP add login B b d 1
            $DESKTOP add login one 1 service r; $DESKTOP add login two 2 service r
            printf '' | sed 's/x//' >none
            update --label A --set label=C
            update --label C --set accessible=aku
            update --label B --secret cmd:'printf new'
            $DESKTOP add login three 3 service s account x; $DESKTOP add login four 4 service s account y
            update --service s --set account=z
            update --label three --set account=y
            update --label three --set account=z
            $DESKTOP dump | grep -c 6e6577
            """)
        let twice = "16 error: the desktop keyring has an item with the same unique key\n"
        #expect(text == "0 \n0 \n0 \n" + twice + twice + "0 \n1\n")
    }

    @Test("A locked keyring can be listed, compared and changed with its password, and its hints can be followed")
    func locked() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP fill 1 4
            from="--keychain secret-service:"
            $KCBACKUP create $from -r "$key" a.kcb
            try() { local status=0; "$@" >result 2>messages || status=$?; echo "$status $(head -1 messages | cut -c11-)"; }
            for command in "item list" "item find --service host0.example.org" "diff a.kcb -i key.txt" \
              "item update --service host0.example.org --set label=New"
            do
              lock Collection_5f0
              try $KCBACKUP $command $from
              try $KCBACKUP $command $from --unlock </dev/null
              try $KCBACKUP $command $from --passcode file:pw
            done
            lock Collection_5f0
            try $KCBACKUP restore a.kcb -i key.txt; grep -c skip-locked messages || true
            try $KCBACKUP item list --unlock --keychain login
            try $KCBACKUP restore a.kcb -i key.txt --replace --replace-unarchived
            printf x >x; chmod 600 x
            try $KCBACKUP create $from --escrow x --unencrypted
            """)
        let locked = "14 error: collection 'Collection 0' of the Secret Service is locked\n"
        let turn = locked + "64 error: '--unlock' needs a terminal\n0 \n"
        #expect(
            text == turn + turn + turn + turn + locked + """
                0
                64 error: '--unlock' is for the desktop keyring
                64 error: '--replace-unarchived' is for kcbackup keychains, and this is the desktop keyring
                64 error: '--escrow' is for kcbackup keychains, and this is the desktop keyring

                """)
    }
}
