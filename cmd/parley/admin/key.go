package admin

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
	"parley/store"
	"parley/store/people"
)

func newKeyCommand() *cobra.Command {
	return command.Group("key", "API keys: create, list, revoke",
		"A key opens the API for its account; one with the role owner also changes who belongs to the account, and one with the mark money\n"+
			"what is paid. An operator's key opens the routes with which operators look after accounts, and nothing else. A key is shown once,\n"+
			"when it is made; only its end is kept in readable form.",
		"  parley admin key list --account acc_…", newKeyCreate(), newKeyList(), newKeyRevoke())
}

// keyView is a key as commands print it; the secret only when it was just made.
type keyView struct {
	ID        string     `json:"id"`
	Role      string     `json:"role"`
	Money     bool       `json:"money"`
	Name      string     `json:"name"`
	Last4     string     `json:"last4"`
	CreatedAt time.Time  `json:"created_at"`
	CreatedBy string     `json:"created_by"` // a user or a key; empty: a command, or not known
	LastUsed  *time.Time `json:"last_used_at"`
	RevokedAt *time.Time `json:"revoked_at"`
	APIKey    string     `json:"api_key,omitempty"`
}

// rights are what it may do, for people.
func (v keyView) rights() string {
	if v.Money {
		return v.Role + ", money"
	}
	return v.Role
}

func viewKey(k *people.Key) keyView {
	return keyView{ID: k.ID, Role: k.Role, Money: k.Money, Name: k.Name, Last4: k.Last4, CreatedAt: k.CreatedAt, CreatedBy: cmp.Or(k.MakerEmail, k.Maker), LastUsed: k.LastUsedAt, RevokedAt: k.RevokedAt}
}

// keyring is whose keys a command works with: an account's, or an operator's.
type keyring struct{ account, operator string }

func keyringFlags(cmd *cobra.Command) *keyring {
	r := &keyring{}
	cmd.Flags().StringVar(&r.account, "account", "", "the account's identifier")
	cmd.Flags().StringVar(&r.operator, "operator", "", "the e-mail address of an operator, for their keys")
	cmd.MarkFlagsOneRequired("account", "operator")
	cmd.MarkFlagsMutuallyExclusive("account", "operator")
	return r
}

// user is the identifier of the operator.
func (r *keyring) user(a *admin) (string, error) {
	u, _, err := a.people.UserByEmail(a.Ctx, r.operator)
	if err == nil && !u.Operator() {
		err = fmt.Errorf("%w: %s is no operator", store.ErrInvalid, u.Email)
	}
	if err != nil {
		return "", err
	}
	return u.ID, nil
}

func newKeyCreate() *cobra.Command {
	cmd := &cobra.Command{Use: "create --account ID|--operator EMAIL", Short: "Create an API key; it is shown once",
		Long: "Creates an API key and prints it. It cannot be shown again. With --role owner it may also change who belongs to the account,\n" +
			"with --money what is paid: automatic recharge and limits of spending.\n" +
			"An operator's key looks after the server's accounts under /v1/operator/, for as long as its user is an operator.",
		Example: "  parley admin key create --account acc_… --name website\n  parley admin key create --operator ana@example.com --name provisioning", Args: cobra.NoArgs}
	ring, name := keyringFlags(cmd), cmd.Flags().String("name", "key", "what it is for")
	role := cmd.Flags().String("role", people.RoleMember, "member, or owner, which manages members as well")
	money := cmd.Flags().Bool("money", false, "it may change what is paid")
	cmd.MarkFlagsMutuallyExclusive("role", "operator")
	cmd.MarkFlagsMutuallyExclusive("money", "operator")
	command.Complete(cmd, map[string][]string{"role": {people.RoleMember, people.RoleOwner}})
	return adminCommand(cmd, func(a *admin, _ []string) (err error) {
		var k people.Key
		var secret, user string
		if ring.operator == "" {
			k, secret, err = a.people.MakeKey(a.Ctx, people.NewKey{Account: ring.account, Name: *name, Role: *role, Money: *money})
		} else if user, err = ring.user(a); err == nil {
			k, secret, err = a.people.CreateOperatorKey(a.Ctx, user, *name)
		}
		if err != nil {
			return err
		}
		v := viewKey(&k)
		v.APIKey = secret
		return a.Answer(v, func(w io.Writer) { fmt.Fprintf(w, "key\t%s\nAPI key\t%s\t(shown once: keep it)\n", v.ID, secret) })
	})
}

func newKeyList() *cobra.Command {
	cmd := &cobra.Command{Use: "list --account ID|--operator EMAIL", Short: "List an account's API keys, or an operator's",
		Long:    "Lists keys with when they were last used. Of a secret only the last four characters are shown.",
		Example: "  parley admin key list --account acc_…", Args: cobra.NoArgs}
	ring := keyringFlags(cmd)
	line := func(v keyView, w io.Writer) {
		state := "used " + command.Stamp(v.LastUsed)
		if v.RevokedAt != nil {
			state = "revoked " + command.Stamp(v.RevokedAt)
		}
		fmt.Fprintf(w, "%s\t%s\t…%s\t%s\t%s\n", v.ID, v.Name, v.Last4, v.rights(), state)
	}
	return adminCommand(cmd, func(a *admin, _ []string) error {
		if ring.operator == "" {
			return listOf(a, ring.account, "keys", a.people.Keys, viewKey, line)
		}
		user, err := ring.user(a)
		if err != nil {
			return err
		}
		return listed(a, "keys", viewKey, line)(a.people.OperatorKeys(a.Ctx, user, store.Page{}))
	})
}

func newKeyRevoke() *cobra.Command {
	cmd := &cobra.Command{Use: "revoke --account ID|--operator EMAIL KEY_ID", Short: "End an API key for good",
		Long:    "Ends a key for good: requests with it are refused from now on. Conversations in progress go on.",
		Example: "  parley admin key revoke --account acc_… key_…", Args: cobra.ExactArgs(1)}
	ring := keyringFlags(cmd)
	return adminCommand(cmd, func(a *admin, args []string) (err error) {
		var user string
		if ring.operator == "" {
			err = a.people.RevokeKey(a.Ctx, ring.account, args[0])
		} else if user, err = ring.user(a); err == nil {
			err = a.people.RevokeOperatorKey(a.Ctx, user, args[0])
		}
		return a.did("id", args[0], "revoked", err)
	})
}
