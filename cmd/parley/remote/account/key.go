package account

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

func newKeyCommand() *cobra.Command {
	return command.Group("key", "API keys of the account: list, create, revoke",
		"Give each program a key of its own, so that one can be revoked without the others.", "  parley key list\n  parley key create --name website",
		newKeyList(), newKeyCreate(), newKeyRevoke())
}

func newKeyList() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "list", Short: "List the API keys", Long: "Lists the account's keys, the newest first, with when they were last used. Of a key only the last four characters are shown.",
		Example: "  parley key list", Args: cobra.NoArgs}, command.OneObject, func(q *server.Request, _ []string) error {
		list, more, err := q.Keys(q.Ctx, server.MostListed)
		if err != nil {
			return err
		}
		return server.Listed(q, list, more, "key", func(w io.Writer, k *wire.APIKey) {
			state := "used " + command.Stamp(k.LastUsedAt)
			if k.RevokedAt != nil {
				state = "revoked " + command.Stamp(k.RevokedAt)
			}
			fmt.Fprintf(w, "%s\t%s\t…%s\t%s\t%s\n", k.ID, k.Name, k.Last4, rights(k), state)
		})
	})
}

func newKeyCreate() *cobra.Command {
	var k wire.NewKey
	cmd := &cobra.Command{Use: "create --name NAME", Short: "Create an API key; it is shown once",
		Long: "Creates a key and prints it, this once: keep it. With --role owner it may change who belongs to the account, and with --money what is\n" +
			"paid; with --listen it may listen in on calls, with --speak it may speak in them, too. Only keys with these rights make such keys, and owners' those that listen. With --json alone api_key is the key.",
		Example: "  parley key create --name website\n  parley key create --name website --json | jq -r .api_key > key.txt", Args: cobra.NoArgs}
	cmd.Flags().StringVar(&k.Name, "name", "", "what it is for")
	cmd.Flags().StringVar(&k.Role, "role", "member", "member, or owner, which manages members as well")
	cmd.Flags().BoolVar(&k.Money, "money", false, "it may change what is paid")
	cmd.Flags().BoolVar(&k.Listen, "listen", false, "it may listen in on calls")
	cmd.Flags().BoolVar(&k.Speak, "speak", false, "it may listen in on calls and speak in them")
	_ = cmd.MarkFlagRequired("name") // it exists
	command.Complete(cmd, map[string][]string{"role": {"member", "owner"}})
	return server.Ask(cmd, command.OneObject, func(q *server.Request, _ []string) error {
		made, err := q.CreateKey(q.Ctx, k)
		if err != nil {
			return err
		}
		return q.Answer(made, func(w io.Writer) {
			fmt.Fprintf(w, "key\t%s\nAPI key\t%s\t(shown once: keep it)\n", made.ID, made.Secret)
		})
	})
}

func newKeyRevoke() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "revoke KEY_ID", Short: "End an API key for good",
		Long:    "Ends a key, and every ticket made from it: requests with it are refused from now on. Conversations in progress go on.",
		Example: "  parley key revoke key_…", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		return q.Did("id", args[0], "revoked", q.RevokeKey(q.Ctx, args[0]))
	})
}

func newSecretCommand() *cobra.Command {
	list := server.Ask(&cobra.Command{Use: "list", Short: "List the secrets", Long: "Lists the account's secrets by name, and the hosts that they are sent to. Values are never shown.",
		Example: "  parley secret list", Args: cobra.NoArgs}, command.OneObject, func(q *server.Request, _ []string) error {
		list, more, err := q.Secrets(q.Ctx, server.MostListed)
		if err != nil {
			return err
		}
		return server.Listed(q, list, more, "secret", showSecret)
	})
	set := &cobra.Command{Use: "set NAME", Short: "Store a secret",
		Long: "Asks for a value, or reads the first line of standard input, and stores it. Functions of agents name it {{secret.NAME}}, in headers and\n" +
			"queries. Bind it to the hosts that it is for: one that is not bound goes wherever a function sends it.",
		Example: "  parley secret set BOOKING_KEY --host api.example.com < key.txt", Args: cobra.ExactArgs(1)}
	hosts := set.Flags().StringArray("host", nil, "where it may be sent, such as api.example.com or *.example.com; may be repeated; without it as before")
	server.Ask(set, command.OneObject, func(q *server.Request, args []string) error {
		value, err := q.Job.Secret("value of " + args[0])
		if err != nil {
			return err
		}
		s, err := q.PutSecret(q.Ctx, args[0], value, *hosts)
		if err != nil {
			return err
		}
		return q.Answer(s, func(w io.Writer) { showSecret(w, s) })
	})
	remove := server.Ask(&cobra.Command{Use: "delete NAME", Short: "Delete a secret", Long: "Deletes a secret. Functions that name it fail from the next conversation on.",
		Example: "  parley secret delete BOOKING_KEY", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		return q.Did("name", args[0], "deleted", q.DeleteSecret(q.Ctx, args[0]))
	})
	return command.Group("secret", "What agents' functions need elsewhere: list, set, delete",
		"Secrets are stored encrypted and never shown again. Agents' functions name them and never hold them.", "  parley secret list\n  parley secret set BOOKING_KEY --host api.example.com",
		list, set, remove)
}

func showSecret(w io.Writer, s *wire.AccountSecret) {
	to := strings.Join(s.Hosts, " ")
	if to == "" {
		to = "not bound to a host"
	}
	fmt.Fprintf(w, "%s\t%s\t%s\n", s.Name, to, command.Stamp(&s.UpdatedAt))
}

func newEngineKeyCommand() *cobra.Command {
	list := server.Ask(&cobra.Command{Use: "list", Short: "List the keys for engines", Long: "Lists the engines that the account has set a key of its own for, and which of them the vendor has refused.",
		Example: "  parley engine-key list", Args: cobra.NoArgs}, command.OneObject, func(q *server.Request, _ []string) error {
		list, err := q.EngineKeys(q.Ctx)
		if err != nil {
			return err
		}
		return server.Listed(q, list, false, "key", showEngineKey)
	})
	set := server.Ask(&cobra.Command{Use: "set ENGINE", Short: "Set your key for an engine", Long: "Asks for a key, or reads the first line of standard input, and has conversations use it in place of the operator's.",
		Example: "  parley engine-key set flux < key.txt", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		key, err := q.Job.Secret("key for " + args[0])
		if err != nil {
			return err
		}
		k, err := q.PutEngineKey(q.Ctx, args[0], key)
		if err != nil {
			return err
		}
		return q.Answer(k, func(w io.Writer) { showEngineKey(w, k) })
	})
	test := server.Ask(&cobra.Command{Use: "test ENGINE", Short: "Try your key for an engine", Long: "Makes one small request to the engine's vendor, which the vendor charges. Exit status 1 when it failed.",
		Example: "  parley engine-key test flux", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		found, err := q.TestEngineKey(q.Ctx, args[0])
		if err != nil {
			return err
		}
		says := fmt.Sprintf("%s works; that took %d ms\n", args[0], found.TookMS)
		if !found.OK {
			says = ""
		}
		if err := q.AnswerText(found, says); err != nil || found.OK || found.Error == nil {
			return err
		}
		return fmt.Errorf("%s %s (%s)", found.Error.Message, found.Error.Detail, found.Error.Code)
	})
	remove := server.Ask(&cobra.Command{Use: "delete ENGINE", Short: "Delete your key for an engine", Long: "Deletes the account's key for an engine. The operator's serves again, where there is one.",
		Example: "  parley engine-key delete flux", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		return q.Did("engine", args[0], "deleted", q.DeleteEngineKey(q.Ctx, args[0]))
	})
	return command.Group("engine-key", "Your own keys for the engines of vendors: list, set, test, delete",
		"Where you have a contract with a vendor of recognition, language models or voices, conversations run on your key. It is never shown again.",
		"  parley engine-key set flux < key.txt\n  parley engine-key test flux", list, set, test, remove)
}

func showEngineKey(w io.Writer, k *wire.EngineKey) {
	state := "set " + command.Stamp(&k.UpdatedAt)
	if k.RefusedAt != nil {
		state = "refused " + command.Stamp(k.RefusedAt) + ": " + server.OrDash(k.Refusal)
	}
	fmt.Fprintf(w, "%s\t…%s\t%s\n", k.Engine, k.Last4, state)
}
