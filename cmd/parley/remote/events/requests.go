package events

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"parley/api/client"
	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

// requestWords are what the filters of the list of requests take, as the API has it.
var requestWords = map[string][]string{"method": {"GET", "POST", "PUT", "PATCH", "DELETE"}, "outcome": {"done", "refused", "failed"}}

func newRequestsCommand() *cobra.Command {
	var query client.RequestQuery
	cmd := server.Ask(&cobra.Command{Use: "requests", Short: "List what was asked with the account's keys",
		Long: "Lists the latest requests with keys and tickets of the account, the newest first, with their answers: those of the\n" +
			"last 7 days, 10,000 at most. Filters are combined. Dates begin at midnight UTC, and --to is not included.",
		Example: "  parley requests --outcome refused\n  parley requests --method POST --limit 5\n  parley requests show req_… --curl",
		Args:    cobra.NoArgs}, command.OneObject, func(q *server.Request, _ []string) error { return listRequests(q, query) })
	fl := cmd.Flags()
	fl.StringVar(&query.Method, "method", "", "only these: "+strings.Join(requestWords["method"], ", "))
	fl.StringVar(&query.Route, "route", "", "only those of this route, such as /v1/agents/{id}")
	fl.StringVar(&query.Outcome, "outcome", "", "only those that were done, refused (400 to 499) or failed (500 and above)")
	fl.StringVar(&query.Code, "code", "", "only those that were answered with this error")
	fl.StringVar(&query.Key, "with-key", "", "only those with this key, by its identifier, or a ticket made from it")
	fl.StringVar(&query.From, "from", "", "not before this date, or RFC 3339 time")
	fl.StringVar(&query.To, "to", "", "before this date, or RFC 3339 time")
	fl.IntVar(&query.Limit, "limit", 20, "how many at most, 1 to 100")
	command.Complete(cmd, requestWords)
	cmd.AddCommand(newRequestsShow())
	return cmd
}

func listRequests(q *server.Request, query client.RequestQuery) error {
	if err := server.CheckFilter(query.Limit, map[string]string{"method": query.Method, "outcome": query.Outcome}, requestWords); err != nil {
		return err
	}
	list, more, err := q.Requests(q.Ctx, query)
	if err != nil {
		return err
	}
	if more {
		fmt.Fprintf(q.ErrOrStderr(), "only the newest %d are shown\n", query.Limit)
	}
	return q.Answer(map[string]any{"data": list}, func(w io.Writer) {
		showOutcomes(w, list, more)
		for i := range list {
			r := &list[i]
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\t%d ms\n", r.ID, command.Stamp(&r.At), r.Method, r.Target, r.Status, server.OrDash(r.Code), r.DurationMS)
		}
	})
}

// showOutcomes says how many requests there are, and how many of them went wrong.
func showOutcomes(w io.Writer, list []wire.RequestSummary, more bool) {
	refused, failed, first := 0, 0, ""
	for _, r := range list {
		switch {
		case r.Status >= 500:
			failed++
		case r.Status >= 400:
			refused++
		}
	}
	if more {
		first = "the newest "
	}
	fmt.Fprintf(w, "%s%d %s, %d refused, %d failed\n", first, len(list), server.Plural("request", int64(len(list))), refused, failed)
}

func newRequestsShow() *cobra.Command {
	cmd := &cobra.Command{Use: "show REQUEST_ID", Short: "Show a request with its body",
		Long: "Shows a request with its body, if that was JSON: without what is called like a secret, and the first 4 kB. --curl prints\n" +
			"the command that sends it again, for a shell with PARLEY_URL and PARLEY_API_KEY, and nothing else.",
		Example: "  parley requests show req_…\n  parley requests show req_… --curl", Args: cobra.ExactArgs(1)}
	asCommand := cmd.Flags().Bool("curl", false, "print the command that sends it again")
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		r, err := q.Request(q.Ctx, args[0])
		if err != nil {
			return err
		}
		if *asCommand {
			return q.AnswerText(r, r.Curl+"\n")
		}
		return q.Answer(r, func(w io.Writer) { showRequest(w, r) })
	})
}

func showRequest(w io.Writer, r *wire.RequestDetail) {
	key := r.Key
	if r.KeyName != nil {
		key += " (" + *r.KeyName + ")"
	}
	fmt.Fprintf(w, "request\t%s\nat\t%s\nmethod\t%s\ntarget\t%s\nstatus\t%d\ncode\t%s\ntook\t%d ms\nkey\t%s\nbytes\t%d in, %d out\n",
		r.ID, command.Stamp(&r.At), r.Method, r.Target, r.Status, server.OrDash(r.Code), r.DurationMS, key, r.BytesIn, r.BytesOut)
	if r.Body != nil {
		fmt.Fprintf(w, "body\t%s\n", *r.Body)
	}
}
