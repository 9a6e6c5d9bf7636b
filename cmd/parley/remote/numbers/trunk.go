package numbers

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

func newTrunkCommand() *cobra.Command {
	return command.Group("trunk", "Lines of the account to carriers and exchanges: presets, create, list, show, check, set, delete, number",
		"A trunk is a SIP line to a carrier or an exchange (PBX). Calls that come on it reach the account's numbers and the trunk's\n"+
			"extensions; calls from numbers that are put on it go out on it. Its settings are a document, as JSON or YAML.",
		"  parley trunk create --preset asterisk --name office --target 192.0.2.20 --allow 192.0.2.20\n  parley trunk check office\n  parley trunk number office +4934112345678 --agent ag_…",
		newTrunkPresets(), newTrunkList(), newTrunkShow(), newTrunkCreate(), newTrunkSet(), newTrunkCheck(), newTrunkNumber(), newTrunkDelete())
}

func newTrunkList() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "list", Short: "List the account's trunks", Long: "Lists the account's trunks, the newest first, with how they do.",
		Example: "  parley trunk list", Args: cobra.NoArgs}, command.OneObject, func(q *server.Request, _ []string) error {
		list := []wire.Trunk{}
		for t, err := range q.ListTrunks(q.Ctx) {
			if err != nil {
				return err
			}
			list = append(list, t)
		}
		return q.Answer(map[string]any{"data": list}, func(w io.Writer) {
			server.Total(w, len(list), "trunk", false)
			for i := range list {
				fmt.Fprintf(w, "%s\t%s\t%s\n", list[i].ID, list[i].Name, trunkState(list[i].Status))
			}
		})
	})
}

// trunkState says in a few words how a trunk does.
func trunkState(s *wire.TrunkStatus) string {
	if s == nil {
		return "not at work yet"
	}
	up := 0
	for _, t := range s.Targets {
		if t.Up {
			up++
		}
	}
	words := []string{fmt.Sprintf("%d of %d targets up", up, len(s.Targets)), fmt.Sprintf("%d %s", s.Calls, server.Plural("call", int64(s.Calls)))}
	switch r := s.Registration; {
	case r == nil:
	case r.Registered:
		words = append(words, "registered until "+command.Stamp(r.Until))
	default:
		words = append(words, "not registered")
	}
	if s.Error != "" {
		words = append(words, s.Error)
	}
	return strings.Join(words, ", ")
}

// showTrunk writes how a trunk does, server by server.
func showTrunk(w io.Writer, t *wire.Trunk) {
	fmt.Fprintf(w, "trunk\t%s\t%s\n", t.ID, t.Name)
	s := t.Status
	if s == nil {
		fmt.Fprintln(w, "state\tnot at work yet")
		return
	}
	if s.Error != "" {
		fmt.Fprintf(w, "error\t%s\n", s.Error)
	}
	for _, target := range s.Targets {
		state := "up"
		if !target.Up {
			state = "down"
		}
		fmt.Fprintf(w, "target\t%s\t%s\t%s\n", target.Target, state, target.Detail)
	}
	if r := s.Registration; r != nil {
		fmt.Fprintf(w, "registration\t%s\t%s\n", registrationState(r), r.Error)
	}
	fmt.Fprintf(w, "calls\t%d\n", s.Calls)
}

func registrationState(r *wire.TrunkRegistration) string {
	if r.Registered {
		return "until " + command.Stamp(r.Until)
	}
	return "none"
}

func newTrunkShow() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "show TRUNK", Short: "Show a trunk, by its name or identifier",
		Long:    "Shows the settings of a trunk as a document, without its passwords, which set takes, and how it does.",
		Example: "  parley trunk show office", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		t, err := q.GetTrunk(q.Ctx, args[0])
		if err != nil {
			return err
		}
		settings, err := json.Marshal(wire.NewTrunk{Name: t.Name, TrunkSettings: t.TrunkSettings})
		if err != nil {
			return err
		}
		document, err := wire.YAML(settings)
		if err != nil {
			return err
		}
		return q.AnswerText(t, document)
	})
}

// trunkFile reads the document of a trunk, with a password from a file of its own.
func trunkFile(q *server.Request, path, password string) (n wire.NewTrunk, err error) {
	text, err := server.ReadText(q.Command, path)
	if err != nil {
		return n, err
	}
	document, err := wire.FromYAML(text)
	if err != nil {
		return n, command.UsageError(path + ": " + err.Error())
	}
	d := json.NewDecoder(strings.NewReader(string(document)))
	d.DisallowUnknownFields()
	if err := d.Decode(&n); err != nil {
		return n, command.UsageError(path + ": " + err.Error())
	}
	if password != "" {
		n.Password, err = passwordOf(password)
	}
	return n, err
}

const trunkDocument = "FILE is JSON or YAML, - is standard input, with the settings of POST /v1/trunks:\n" +
	"name, targets, username, register, allow, extensions and others."

func newTrunkSet() *cobra.Command {
	cmd := &cobra.Command{Use: "set TRUNK FILE", Short: "Replace the settings of a trunk",
		Long:    "Replaces all settings of a trunk. A password that is not given stays as long as its user does, a key as long as\nits certificate; calls go on. " + trunkDocument,
		Example: "  parley trunk show office > office.yaml\n  parley trunk set office office.yaml", Args: cobra.ExactArgs(2)}
	password := cmd.Flags().String("password-file", "", "a file with the password that goes with username")
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		n, err := trunkFile(q, args[1], *password)
		if err != nil {
			return err
		}
		t, err := q.ReplaceTrunk(q.Ctx, args[0], n)
		if err != nil {
			return err
		}
		return q.Answer(t, func(w io.Writer) { showTrunk(w, t) })
	})
}

func newTrunkCheck() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "check TRUNK", Short: "Ask the servers of a trunk how they do",
		Long:    "Sends OPTIONS to each server of a trunk and shows what they answer, and how its registration stands. It fails when none is up.",
		Example: "  parley trunk check office", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		t, err := q.CheckTrunk(q.Ctx, args[0])
		if err != nil {
			return err
		}
		if err := q.Answer(t, func(w io.Writer) { showTrunk(w, t) }); err != nil {
			return err
		}
		return works(t)
	})
}

// works says why no calls go out on a trunk that is there for them.
func works(t *wire.Trunk) error {
	if len(t.Targets) == 0 || t.Status == nil {
		return nil
	}
	for _, target := range t.Status.Targets {
		if target.Up && (t.Status.Registration == nil || t.Status.Registration.Registered) {
			return nil
		}
	}
	return fmt.Errorf("the trunk %s does not work", t.Name)
}

func newTrunkNumber() *cobra.Command {
	cmd := &cobra.Command{Use: "number TRUNK NUMBER", Short: "Put a number of your own on a trunk",
		Long: "Puts a number on a trunk that brings its calls: it is in the list of numbers, costs nothing here, and calls from it go out on the\n" +
			"trunk. parley number release takes it off.",
		Example: "  parley trunk number office +4934112345678 --agent ag_…", Args: cobra.ExactArgs(2)}
	agent := cmd.Flags().String("agent", "", "the agent that answers; without it nobody does")
	server.CompleteAgents(cmd)
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		t, err := q.GetTrunk(q.Ctx, args[0])
		if err != nil {
			return err
		}
		n, err := q.AddTrunkNumber(q.Ctx, t.ID, wire.NewTrunkNumber{PhoneNumber: args[1], AgentID: *agent})
		if err != nil {
			return err
		}
		return q.Answer(n, func(w io.Writer) { showNumber(w, n) })
	})
}

func newTrunkDelete() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "delete TRUNK", Short: "Delete a trunk", Long: "Deletes a trunk. Calls in progress go on. The numbers on it must be released before.",
		Example: "  parley trunk delete office", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		return q.Did("trunk", args[0], "deleted", q.DeleteTrunk(q.Ctx, args[0]))
	})
}
