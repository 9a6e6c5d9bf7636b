package admin

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
	"parley/store"
)

func newDoNotCallCommand() *cobra.Command {
	return command.Group("do-not-call", "Numbers that an account does not call: add, list, remove",
		"Keeps agents of an account from calling a number, as when its owner complains to the operator. Calls from it are taken as before.",
		"  parley admin do-not-call add --account acc_… +34612345678 --reason \"wrote to us\"",
		newDoNotCallAdd(), newDoNotCallList(), newDoNotCallRemove())
}

// doNotCallView is an entry as commands print it.
type doNotCallView struct {
	Number string  `json:"number"`
	Reason string  `json:"reason"`
	Source string  `json:"source"` // a store.ListedBy
	CallID *string `json:"call_id"`
	Since  string  `json:"since"`
}

func viewDoNotCall(e *store.DoNotCall) doNotCallView {
	return doNotCallView{e.Number, e.Reason, string(e.Source), e.Call, e.Since.UTC().Format("2006-01-02T15:04:05Z")}
}

func (v doNotCallView) show(w io.Writer) {
	fmt.Fprintf(w, "%s\tsince %s\tby %s\t%s\n", v.Number, v.Since, v.Source, command.OrNone(&v.Reason))
}

func newDoNotCallAdd() *cobra.Command {
	cmd := &cobra.Command{Use: "add --account ID E164", Short: "Add a number to an account's do-not-call list",
		Long:    "Puts a number on an account's list, from the next call on. One that is there already stays as it is.",
		Example: "  parley admin do-not-call add --account acc_… +34612345678 --reason \"wrote to us\"", Args: cobra.ExactArgs(1)}
	reason := cmd.Flags().String("reason", "", "why, in one line of up to 200 characters")
	return accountCommand(cmd, func(a *admin, account string, args []string) error {
		e, _, err := a.db.AddDoNotCall(a.Ctx, account, store.DoNotCall{Number: args[0], Reason: *reason, Source: store.ListedByOperator})
		return shown(a, viewDoNotCall)(e, err)
	})
}

func newDoNotCallList() *cobra.Command {
	return accountCommand(&cobra.Command{Use: "list --account ID", Short: "List an account's do-not-call list",
		Long: "Lists the numbers that an account does not call, the newest first, and who put them there.", Example: "  parley admin do-not-call list --account acc_… --json", Args: cobra.NoArgs},
		func(a *admin, account string, _ []string) error {
			return listOf(a, account, "numbers", a.db.DoNotCalls, viewDoNotCall, doNotCallView.show)
		})
}

func newDoNotCallRemove() *cobra.Command {
	return accountCommand(&cobra.Command{Use: "remove --account ID E164", Short: "Remove a number from an account's do-not-call list",
		Long:    "Removes a number from an account's do-not-call list, also one that an agent added.",
		Example: "  parley admin do-not-call remove --account acc_… +34612345678", Args: cobra.ExactArgs(1)}, func(a *admin, account string, args []string) error {
		return a.did("number", args[0], "removed", a.db.RemoveDoNotCall(a.Ctx, account, args[0]))
	})
}
