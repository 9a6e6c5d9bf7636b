package server

import (
	"io"
	"time"

	"github.com/spf13/cobra"

	"parley/api/client"
	"parley/cmd/parley/command"
)

// Request is a command on its way to the server.
type Request struct {
	*command.Job
	*client.Client
}

// Ask makes cmd a command that asks the server by run. jsonHelp says what --json prints.
func Ask(cmd *cobra.Command, jsonHelp string, run func(q *Request, args []string) error) *cobra.Command {
	r := Flags(cmd)
	return command.Interruptible(cmd, jsonHelp, func(j *command.Job, args []string) error {
		c, err := r.Client()
		if err != nil {
			return err
		}
		return run(&Request{j, c}, args)
	})
}

// WriteOutput opens the output at path and has f write it, showing how far it is. The output appears
// when it is complete.
func (q *Request) WriteOutput(path string, f func(to *Output, show *command.Progress) error) error {
	to, err := OpenOutput(q.Command, path, q.JSON)
	if err != nil {
		return err
	}
	show := command.NewProgress(q.Command, q.JSON)
	defer show.End()
	return to.Finish(f(to, show))
}

// MostListed is how many entries of a list are printed at most.
const MostListed = 1000

// Listed answers with a list: its total before its entries.
func Listed[T any](q *Request, list []T, more bool, thing string, line func(io.Writer, *T)) error {
	return q.Answer(map[string]any{"data": list, "has_more": more}, func(w io.Writer) {
		Total(w, len(list), thing, more)
		for i := range list {
			line(w, &list[i])
		}
	})
}

// Did answers with what has happened to a thing, such as "deleted" to an identifier, unless err says that it has not.
func (q *Request) Did(key, thing, what string, err error) error {
	if err != nil {
		return err
	}
	return q.AnswerText(map[string]any{key: thing, what: true}, what+"\t"+thing+"\n")
}

// CancelPatience is how long a server may take to cancel a task of somebody who is
// leaving.
const CancelPatience = 5 * time.Second
