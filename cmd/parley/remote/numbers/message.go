package numbers

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"parley/api/client"
	"parley/api/export"
	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

func newMessageCommand() *cobra.Command {
	return command.Group("message", "Text messages (SMS) of the account: send, list, show, delete",
		"Text messages from and to numbers that were bought here. They are charged by the segment; what one costs is in parley rates.",
		"  parley message send --from +12125550100 +14155550177 'Your table is booked.'\n  parley message list --direction inbound",
		newMessageSend(), newMessageList(), newMessageShow(), newMessageDelete())
}

func newMessageSend() *cobra.Command {
	cmd := &cobra.Command{Use: "send --from NUMBER NUMBER TEXT", Short: "Send a text message",
		Long: "Queues a text message and holds its price, which is charged when the carrier has taken it. show says how it went.\n" +
			"A command that failed halfway is safe to repeat with the --once that it printed.",
		Example: "  parley message send --from +12125550100 +14155550177 'Your table is booked.'", Args: cobra.ExactArgs(2)}
	from := cmd.Flags().String("from", "", "a number of the account that was bought here")
	once := cmd.Flags().String("once", "", "a word of your own: repeated with it, the command sends nothing twice")
	_ = cmd.MarkFlagRequired("from") // it exists
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		key := cmp.Or(*once, rand.Text())
		m, err := q.SendMessage(q.Ctx, wire.NewMessage{From: *from, To: args[0], Text: args[1]}, key)
		if refused, is := errors.AsType[*client.Error](err); err != nil && (!is || refused.Retryable) {
			return fmt.Errorf("%w (to ask again: --once %s)", err, key)
		}
		if err != nil {
			return err
		}
		return q.Answer(m, func(w io.Writer) { showMessage(w, m) })
	})
}

func newMessageList() *cobra.Command {
	var query client.ListMessagesQuery
	cmd := &cobra.Command{Use: "list", Short: "List text messages", Long: "Lists those that were sent and those that came in, newest first, a thousand at most.",
		Example: "  parley message list --direction inbound --from 2026-03-01\n  parley message list --peer +14155550177", Args: cobra.NoArgs}
	fl := cmd.Flags()
	fl.StringVar(&query.Direction, "direction", "", "only these: inbound or outbound")
	fl.StringVar(&query.Status, "status", "", "only these: queued, sent, delivered, failed or received")
	fl.StringVar(&query.Number, "number", "", "only messages from or to this number of the account")
	fl.StringVar(&query.Peer, "peer", "", "only messages from or to this number of somebody else")
	fl.StringVar(&query.From, "from", "", "not before this date or RFC 3339 time")
	fl.StringVar(&query.To, "to", "", "before this date or time")
	command.Complete(cmd, map[string][]string{"direction": {"inbound", "outbound"}, "status": {"queued", "sent", "delivered", "failed", "received"}})
	return server.Ask(cmd, command.OneObject, func(q *server.Request, _ []string) error {
		list, more := []wire.Message{}, false
		for m, err := range q.ListMessages(q.Ctx, query) {
			if err != nil {
				return err
			}
			if more = len(list) == server.MostListed; more {
				break
			}
			list = append(list, m)
		}
		return server.Listed(q, list, more, "message", func(w io.Writer, m *wire.Message) {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s -> %s\t%s\t%s\n", m.ID, command.Stamp(&m.CreatedAt), m.Status, m.From, m.To, m.Cost, server.OneLine(export.Optional(m.Text)))
		})
	})
}

func showMessage(w io.Writer, m *wire.Message) {
	fmt.Fprintf(w, "message\t%s\nfrom\t%s\nto\t%s\nstatus\t%s\n", m.ID, m.From, m.To, m.Status)
	if m.Reason != nil {
		fmt.Fprintf(w, "reason\t%s\n", *m.Reason)
	}
	if m.CallID != nil {
		fmt.Fprintf(w, "call\t%s\n", *m.CallID)
	}
	fmt.Fprintf(w, "segments\t%d, %s\ncost\t%s USD\nbegan\t%s\nended\t%s\n", m.Segments, m.Encoding, m.Cost, command.Stamp(&m.CreatedAt), command.Stamp(m.EndedAt))
	if m.Text != nil {
		fmt.Fprintf(w, "text\t%s\n", *m.Text)
	}
}

func newMessageShow() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "show MESSAGE_ID", Short: "Show a text message", Long: "Shows what it says, how it went and what it cost.",
		Example: "  parley message show msg_…", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		m, err := q.GetMessage(q.Ctx, args[0])
		if err != nil {
			return err
		}
		return q.Answer(m, func(w io.Writer) { showMessage(w, m) })
	})
}

func newMessageDelete() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "delete MESSAGE_ID", Short: "Delete the text of a message",
		Long:    "Deletes what it says, for good. That there was the message stays: with whom, when and what it cost.",
		Example: "  parley message delete msg_…", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		return q.Did("id", args[0], "deleted", q.DeleteMessage(q.Ctx, args[0]))
	})
}
