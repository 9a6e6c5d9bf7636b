package account

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

func newAccountCommand() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "account", Aliases: []string{"whoami"}, Short: "Show the account and the key in use",
		Long: "Shows whose key is used, at which server, and what the account may do: how much at once, and how long it keeps transcripts.\n" +
			"Other accounts of a server are its operator's: parley admin account.",
		Example: "  parley account\n  parley account --profile staging --json | jq -r .id", Args: cobra.NoArgs}, command.OneObject, func(q *server.Request, _ []string) error {
		a, err := q.Account(q.Ctx)
		if err != nil {
			return err
		}
		return q.Answer(a, func(w io.Writer) { showAccount(w, a) })
	})
}

func showAccount(w io.Writer, a *wire.OwnAccount) {
	fmt.Fprintf(w, "account\t%s\nname\t%s\n", a.ID, a.Name)
	if k := a.Key; k != nil {
		fmt.Fprintf(w, "key\t%s\t%s\t%s\n", k.ID, k.Name, rights(k))
	}
	state := ""
	switch {
	case a.Suspended:
		state = "\tsuspended: nothing starts"
	case a.Disputed:
		state = "\ta payment is disputed: nothing starts"
	}
	fmt.Fprintf(w, "balance\t%s USD%s\nsessions\t%d of %d at once\n", server.Dollars(a.Balance), state, a.Concurrency.Live, a.Concurrency.Limit)
	if a.RequestsPerSecond != nil {
		fmt.Fprintf(w, "requests\t%d a second\n", *a.RequestsPerSecond)
	}
	kept := "until deleted"
	if a.TalkDays != nil {
		kept = fmt.Sprintf("for %d days", *a.TalkDays)
	}
	fmt.Fprintf(w, "recordings\tkept for %d days\nconversations\tkept %s\nwarnings go to\t%s\nsince\t%s\n", a.RecordingDays, kept, command.OrNone(&a.Email), command.Stamp(&a.CreatedAt))
}

// rights are what a key may do, in a word or two.
func rights(k *wire.APIKey) string {
	all := k.Role
	if k.Money {
		all += ", money"
	}
	if k.Listen {
		all += ", listen"
	}
	if k.Speak {
		all += ", speak"
	}
	return all
}
