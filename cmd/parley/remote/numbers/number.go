package numbers

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"parley/api/client"
	"parley/api/export"
	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

func newNumberCommand() *cobra.Command {
	return command.Group("number", "Telephone numbers of the account: list, search, buy, assign, rules, try, release",
		"Numbers that agents answer and call from. One that is bought costs its price every month, from the balance, until it is released.",
		"  parley number search --country ES\n  parley number buy +34911234567 --agent ag_…",
		newNumberList(), newNumberSearch(), newNumberBuy(), newNumberAssign(), newNumberRules(), newNumberTry(), newNumberRelease())
}

func newNumberList() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "list", Short: "List the account's numbers", Long: "Lists the account's numbers with their state, who answers them, and what they cost a month.",
		Example: "  parley number list", Args: cobra.NoArgs}, command.OneObject, func(q *server.Request, _ []string) error {
		list, err := q.Numbers(q.Ctx)
		if err != nil {
			return err
		}
		return q.Answer(map[string]any{"numbers": list}, func(w io.Writer) {
			var sum wire.USD
			for _, n := range list {
				sum += n.MonthlyPrice
			}
			fmt.Fprintf(w, "%d %s, %s USD a month\n", len(list), server.Plural("number", int64(len(list))), server.Dollars(sum))
			for i := range list {
				showNumber(w, &list[i])
			}
		})
	})
}

func showNumber(w io.Writer, n *wire.Number) {
	state := n.Status
	if n.ReleaseAt != nil {
		state += " until " + command.Stamp(n.ReleaseAt)
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s USD\tagent %s", n.ID, n.PhoneNumber, n.CountryCode, state, server.Dollars(n.MonthlyPrice), command.OrNone(n.AgentName))
	if n.WebhookID != nil {
		fmt.Fprintf(w, "\tasks %s", *n.WebhookID)
	}
	if n.CallsPerHour != nil {
		fmt.Fprintf(w, "\t%d %s an hour", *n.CallsPerHour, server.Plural("call", int64(*n.CallsPerHour)))
	}
	fmt.Fprintln(w)
}

func newNumberSearch() *cobra.Command {
	query := client.NumberQuery{Page: 1}
	cmd := &cobra.Command{Use: "search --country CODE", Short: "Search numbers for sale",
		Long:    "Searches the carrier's numbers. What a number costs you a month is in parley rates.",
		Example: "  parley number search --country ES --locality Madrid", Args: cobra.NoArgs}
	fl := cmd.Flags()
	fl.StringVar(&query.Country, "country", "", "where: "+strings.Join(soldIn, ", "))
	fl.StringVar(&query.Region, "region", "", "only this region, as the carrier spells it")
	fl.StringVar(&query.Locality, "locality", "", "only this town")
	fl.IntVar(&query.Page, "page", 1, "which page")
	_ = cmd.MarkFlagRequired("country") // it exists
	command.Complete(cmd, map[string][]string{"country": soldIn})
	return server.Ask(cmd, command.OneObject, func(q *server.Request, _ []string) error {
		query.Country = strings.ToUpper(query.Country)
		list, more, err := q.SearchNumbers(q.Ctx, query)
		if err != nil {
			return err
		}
		if more {
			fmt.Fprintf(q.ErrOrStderr(), "there are more on --page %d\n", query.Page+1)
		}
		return q.Answer(map[string]any{"numbers": list, "has_more": more}, func(w io.Writer) {
			server.Total(w, len(list), "number", false)
			for _, n := range list {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", n.PhoneNumber, n.CountryCode, n.Region, n.Locality, strings.Join(n.Features, " "))
			}
		})
	})
}

// soldIn are the countries whose numbers the API searches.
var soldIn = []string{"US", "ES", "UK", "DE", "FR", "IT", "PT"}

func newNumberBuy() *cobra.Command {
	cmd := &cobra.Command{Use: "buy NUMBER", Short: "Buy a number",
		Long: "Buys a number that search has found and charges its first month at once. It may be pending for a while, until the carrier has activated it.\n" +
			"A command that failed halfway is safe to repeat with the --once that it printed.",
		Example: "  parley number buy +34911234567 --agent ag_…", Args: cobra.ExactArgs(1)}
	agent := cmd.Flags().String("agent", "", "the agent that answers; without it nobody does")
	once := cmd.Flags().String("once", "", "a word of your own: repeated with it, the command buys nothing twice")
	server.CompleteAgents(cmd)
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		key := cmp.Or(*once, rand.Text())
		n, err := q.BuyNumber(q.Ctx, args[0], *agent, key)
		if refused, is := errors.AsType[*client.Error](err); err != nil && (!is || refused.Retryable) {
			return fmt.Errorf("%w (to ask again: --once %s)", err, key)
		}
		if err != nil {
			return err
		}
		return q.Answer(n, func(w io.Writer) { showNumber(w, n) })
	})
}

// numberID is the identifier of a number of the account, which may be given by the number itself.
func numberID(q *server.Request, given string) (string, error) {
	if !strings.HasPrefix(given, "+") {
		return given, nil
	}
	list, err := q.Numbers(q.Ctx)
	if err != nil {
		return "", err
	}
	for _, n := range list {
		if n.PhoneNumber == given {
			return n.ID, nil
		}
	}
	return "", &client.Error{Status: 404, Message: "The account has no number " + given + "."}
}

func newNumberAssign() *cobra.Command {
	cmd := &cobra.Command{Use: "assign NUMBER", Short: "Say who answers a number",
		Long: "Binds a number, by itself or its identifier, to an agent, or with an empty --agent to nobody. --webhook names the webhook that is asked\n" +
			"about each of its calls while it rings; an empty one: none is. --calls-per-hour is how many calls the account places from it in an hour: one\n" +
			"that calls and calls is soon shown as spam to those it calls. What is not given stays.",
		Example: "  parley number assign +34911234567 --agent ag_…\n  parley number assign num_… --webhook wh_…\n  parley number assign +34911234567 --calls-per-hour 30", Args: cobra.ExactArgs(1)}
	agent := cmd.Flags().String("agent", "", "the agent that answers; empty: nobody")
	hook := cmd.Flags().String("webhook", "", "the webhook that is asked; empty: none")
	pace := cmd.Flags().Int("calls-per-hour", 0, "calls that are placed from it in an hour; 0: as many as you like")
	cmd.MarkFlagsOneRequired("agent", "webhook", "calls-per-hour")
	server.CompleteAgents(cmd)
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		var to client.Assignment
		if q.Flag("agent").Changed {
			to.Agent = agent
		}
		if q.Flag("webhook").Changed {
			to.Webhook = hook
		}
		if q.Flag("calls-per-hour").Changed {
			to.CallsPerHour = pace
		}
		id, err := numberID(q, args[0])
		if err != nil {
			return err
		}
		n, err := q.AssignNumber(q.Ctx, id, to)
		if err != nil {
			return err
		}
		return q.Answer(n, func(w io.Writer) { showNumber(w, n) })
	})
}

func newNumberRelease() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "release NUMBER", Short: "Give a number back, for good",
		Long:    "Gives a number back, by itself or its identifier: nobody answers it any more, no further month is charged, and somebody else may get it.",
		Example: "  parley number release +34911234567", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		id, err := numberID(q, args[0])
		if err != nil {
			return err
		}
		r, err := q.ReleaseNumber(q.Ctx, id)
		if err != nil {
			return err
		}
		return q.AnswerText(r, "released\t"+r.PhoneNumber+"\n")
	})
}

func newDoNotCallCommand() *cobra.Command {
	return command.Group("do-not-call", "Numbers that the account does not call: list, add, check, remove, export, import",
		"Calls to a number on the list are refused, and cost nothing; calls from it are taken. Agents may put callers on it who ask for that.",
		"  parley do-not-call add +34612345678 --reason 'wrote to us'\n  parley do-not-call import people.csv",
		newDoNotCallList(), newDoNotCallAdd(), newDoNotCallCheck(), newDoNotCallRemove(),
		server.Table("do-not-call", "Write the list as a CSV file", "Writes all numbers of the list with reasons and times, from one moment, as import takes them elsewhere."), newDoNotCallImport())
}

func showListed(w io.Writer, n *wire.DoNotCall) {
	fmt.Fprintf(w, "%s\tsince %s\tby %s\t%s\t%s\n", n.Number, command.Stamp(&n.Since), n.Source, export.Optional(n.CallID), n.Reason)
}

func newDoNotCallList() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "list", Short: "List the do-not-call list", Long: "Lists the numbers that the account does not call, the newest first, who put them there, and why.",
		Example: "  parley do-not-call list", Args: cobra.NoArgs}, command.OneObject, func(q *server.Request, _ []string) error {
		list, more, err := q.Client.DoNotCall(q.Ctx, server.MostListed)
		if err != nil {
			return err
		}
		return server.Listed(q, list, more, "number", showListed)
	})
}

func newDoNotCallAdd() *cobra.Command {
	cmd := &cobra.Command{Use: "add NUMBER", Short: "Put a number on the list", Long: "Puts a number on the list, from the next call on. One that is there already stays as it is.",
		Example: "  parley do-not-call add +34612345678 --reason 'wrote to us'", Args: cobra.ExactArgs(1)}
	reason := cmd.Flags().String("reason", "", "why, in one line of up to 200 characters")
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		n, err := q.AddDoNotCall(q.Ctx, wire.NewListed{Number: args[0], Reason: *reason})
		if err != nil {
			return err
		}
		return q.Answer(n, func(w io.Writer) { showListed(w, n) })
	})
}

func newDoNotCallCheck() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "check NUMBER", Short: "Say whether a number is on the list", Long: "Shows the entry of a number. Exit status 4 when it is not on the list.",
		Example: "  parley do-not-call check +34612345678", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		n, err := q.CheckDoNotCall(q.Ctx, args[0])
		if err != nil {
			return err
		}
		return q.Answer(n, func(w io.Writer) { showListed(w, n) })
	})
}

func newDoNotCallRemove() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "remove NUMBER", Short: "Take a number off the list", Long: "Takes a number off the list, also one that an agent added. Make sure that its owner agrees.",
		Example: "  parley do-not-call remove +34612345678", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		return q.Did("number", args[0], "removed", q.RemoveDoNotCall(q.Ctx, args[0]))
	})
}

func newDoNotCallImport() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "import FILE.csv", Short: "Put the numbers of a CSV file on the list",
		Long: "Adds the numbers of a CSV file, - for standard input: all of them or, where a line is wrong, none. The first line names the columns number and\n" +
			"reason; without such a line they are the first two. Numbers that are on the list stay as they are.",
		Example: "  parley do-not-call import people.csv", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		in, err := server.OpenInput(q.Command, args[0])
		if err != nil {
			return err
		}
		defer in.Close()
		done, err := q.ImportDoNotCall(q.Ctx, in)
		if err != nil {
			return err
		}
		return q.AnswerText(done, fmt.Sprintf("%d added, %d on the list before\n", done.Added, done.Known))
	})
}
