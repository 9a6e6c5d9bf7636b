package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"parley/store"
)

func newKeyCommand() *cobra.Command {
	return group("key", "API keys: create, list, revoke",
		"A key opens the whole API for its account. It is shown once, when it is made; only its end is kept in readable form.",
		"  parley key list --account acc_…", newKeyCreate(), newKeyList(), newKeyRevoke())
}

// keyView is a key as commands print it; the secret only when it was just made.
type keyView struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Last4     string     `json:"last4"`
	CreatedAt time.Time  `json:"created_at"`
	LastUsed  *time.Time `json:"last_used_at"`
	RevokedAt *time.Time `json:"revoked_at"`
	APIKey    string     `json:"api_key,omitempty"`
}

func viewKey(k store.Key) keyView {
	return keyView{ID: k.ID, Name: k.Name, Last4: k.Last4, CreatedAt: k.CreatedAt, LastUsed: k.LastUsedAt, RevokedAt: k.RevokedAt}
}

// accountFlag adds the flag that says whose thing it is.
func accountFlag(cmd *cobra.Command) *string {
	account := cmd.Flags().String("account", "", "the account's identifier")
	_ = cmd.MarkFlagRequired("account")
	return account
}

func newKeyCreate() *cobra.Command {
	cmd := &cobra.Command{Use: "create --account ID", Short: "Create an API key; it is shown once",
		Long:    "Creates an API key and prints it. It cannot be shown again.",
		Example: "  parley key create --account acc_… --name website", Args: cobra.NoArgs}
	account, name := accountFlag(cmd), cmd.Flags().String("name", "key", "what it is for")
	return adminCommand(cmd, func(a *admin, _ []string) error {
		k, secret, err := a.db.CreateKey(a.ctx, *account, *name, a.now)
		if err != nil {
			return err
		}
		v := viewKey(k)
		v.APIKey = secret
		return a.print(v, func(w io.Writer) { fmt.Fprintf(w, "key\t%s\nAPI key\t%s\t(shown once: keep it)\n", v.ID, secret) })
	})
}

func newKeyList() *cobra.Command {
	cmd := &cobra.Command{Use: "list --account ID", Short: "List an account's API keys",
		Long:    "Lists an account's keys with when they were last used. Of a secret only the last four characters are shown.",
		Example: "  parley key list --account acc_…", Args: cobra.NoArgs}
	account := accountFlag(cmd)
	return adminCommand(cmd, func(a *admin, _ []string) error {
		if _, err := a.db.Account(a.ctx, *account); err != nil {
			return err
		}
		keys, err := a.db.Keys(a.ctx, *account, store.Page{})
		if err != nil {
			return err
		}
		views := make([]keyView, len(keys))
		for i, k := range keys {
			views[i] = viewKey(k)
		}
		return a.print(map[string]any{"keys": views}, func(w io.Writer) {
			for _, v := range views {
				state := "used " + stamp(v.LastUsed)
				if v.RevokedAt != nil {
					state = "revoked " + stamp(v.RevokedAt)
				}
				fmt.Fprintf(w, "%s\t%s\t…%s\t%s\n", v.ID, v.Name, v.Last4, state)
			}
		})
	})
}

func newKeyRevoke() *cobra.Command {
	cmd := &cobra.Command{Use: "revoke --account ID KEY_ID", Short: "End an API key for good",
		Long:    "Ends a key for good: requests with it are refused from now on. Conversations in progress go on.",
		Example: "  parley key revoke --account acc_… key_…", Args: cobra.ExactArgs(1)}
	account := accountFlag(cmd)
	return adminCommand(cmd, func(a *admin, args []string) error {
		if err := a.db.RevokeKey(a.ctx, *account, args[0], a.now); err != nil {
			return err
		}
		return a.print(map[string]any{"id": args[0], "revoked": true}, func(w io.Writer) { fmt.Fprintf(w, "revoked\t%s\n", args[0]) })
	})
}
