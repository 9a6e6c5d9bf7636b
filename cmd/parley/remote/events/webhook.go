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

func newWebhookCommand() *cobra.Command {
	one := func(use, short, long, example string, run func(q *server.Request, id string) (*wire.Webhook, error)) *cobra.Command {
		return server.Ask(&cobra.Command{Use: use + " WEBHOOK_ID", Short: short, Long: long, Example: example, Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
			h, err := run(q, args[0])
			if err != nil {
				return err
			}
			return q.Answer(h, func(w io.Writer) { showWebhook(w, h) })
		})
	}
	enabled := func(is bool) func(q *server.Request, id string) (*wire.Webhook, error) {
		return func(q *server.Request, id string) (*wire.Webhook, error) {
			return q.ChangeWebhook(q.Ctx, id, client.WebhookChange{Enabled: &is})
		}
	}
	remove := server.Ask(&cobra.Command{Use: "delete WEBHOOK_ID", Short: "Delete a webhook", Long: "Deletes a webhook with its deliveries.",
		Example: "  parley webhook delete wh_…", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		return q.Did("id", args[0], "deleted", q.DeleteWebhook(q.Ctx, args[0]))
	})
	rotate := server.Ask(&cobra.Command{Use: "rotate WEBHOOK_ID", Short: "Give a webhook a new secret; it is shown once", Long: "Makes a new secret and prints it, this once. For 24 hours both sign what is sent.",
		Example: "  parley webhook rotate wh_…", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		h, err := q.RotateWebhook(q.Ctx, args[0])
		if err != nil {
			return err
		}
		return q.Answer(h, func(w io.Writer) { showSigned(w, h) })
	})
	return command.Group("webhook", "Addresses that events are sent to: list, show, create, update, enable, disable, delete, rotate, test, deliveries, retry",
		"A webhook is an address of yours that learns what happens: calls that begin and end, transcripts, warnings. What is sent is signed.\n"+
			"parley listen gets the same on this machine, where no server could send it.",
		"  parley webhook create https://example.com/parley --event call.ended\n  parley webhook deliveries wh_…",
		newWebhookList(), one("show", "Show a webhook", "Shows a webhook, without its secret.", "  parley webhook show wh_…", func(q *server.Request, id string) (*wire.Webhook, error) { return q.Webhook(q.Ctx, id) }),
		newWebhookCreate(), newWebhookUpdate(),
		one("enable", "Send events again", "Sends events again, from now on, and forgets its failures.", "  parley webhook enable wh_…", enabled(true)),
		one("disable", "Send nothing more", "Sends nothing more, and drops what is on its way.", "  parley webhook disable wh_…", enabled(false)),
		remove, rotate, newWebhookTest(), newWebhookDeliveries(), newWebhookRetry())
}

func showWebhook(w io.Writer, h *wire.Webhook) {
	state, events := "enabled", strings.Join(h.Events, " ")
	if !h.Enabled {
		state = "disabled: " + h.DisabledReason
	}
	if h.FailingSince != nil {
		state += ", failing since " + command.Stamp(h.FailingSince)
	}
	if events == "" {
		events = "all events"
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", h.ID, h.URL, state, events, h.Description)
}

// showSigned shows a webhook in the only answer that has its secret.
func showSigned(w io.Writer, h *wire.SecretWebhook) {
	fmt.Fprintf(w, "webhook\t%s\nurl\t%s\nsecret\t%s\t(shown once: keep it)\n", h.ID, h.URL, h.Secret)
}

func newWebhookList() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "list", Short: "List the webhooks", Long: "Lists the account's webhooks, the newest first, with what they get and whether it arrives.",
		Example: "  parley webhook list", Args: cobra.NoArgs}, command.OneObject, func(q *server.Request, _ []string) error {
		list, err := q.Webhooks(q.Ctx)
		if err != nil {
			return err
		}
		return server.Listed(q, list, false, "webhook", showWebhook)
	})
}

func newWebhookCreate() *cobra.Command {
	var h wire.NewWebhook
	cmd := &cobra.Command{Use: "create URL", Short: "Create a webhook; its secret is shown once",
		Long:    "Creates a webhook for an https address on the public Internet, and prints the secret that signs what is sent, this once.",
		Example: "  parley webhook create https://example.com/parley --event call.ended --event call.transcript", Args: cobra.ExactArgs(1)}
	cmd.Flags().StringArrayVar(&h.Events, "event", nil, "a type of event that it gets; may be repeated; without it all")
	cmd.Flags().StringVar(&h.Description, "description", "", "what it is for")
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		h.URL = args[0]
		made, err := q.CreateWebhook(q.Ctx, h)
		if err != nil {
			return err
		}
		return q.Answer(made, func(w io.Writer) { showSigned(w, made) })
	})
}

func newWebhookUpdate() *cobra.Command {
	cmd := &cobra.Command{Use: "update WEBHOOK_ID", Short: "Change a webhook; what is not mentioned stays", Long: "Changes address, description or events of a webhook. --event all asks for all.",
		Example: "  parley webhook update wh_… --event call.ended\n  parley webhook update wh_… --event all", Args: cobra.ExactArgs(1)}
	fl := cmd.Flags()
	url := fl.String("to", "", "its address")
	description := fl.String("description", "", "what it is for")
	events := fl.StringArray("event", nil, "a type of event that it gets, or all; may be repeated")
	cmd.MarkFlagsOneRequired("to", "description", "event")
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		var change client.WebhookChange
		if fl.Changed("to") {
			change.URL = url
		}
		if fl.Changed("description") {
			change.Description = description
		}
		if fl.Changed("event") {
			list := append([]string{}, *events...)
			if len(list) == 1 && list[0] == "all" {
				list = []string{}
			}
			change.Events = &list
		}
		h, err := q.ChangeWebhook(q.Ctx, args[0], change)
		if err != nil {
			return err
		}
		return q.Answer(h, func(w io.Writer) { showWebhook(w, h) })
	})
}

func showDelivery(w io.Writer, d *wire.Delivery) {
	last := "-"
	if n := len(d.Attempts); n > 0 {
		a := d.Attempts[n-1]
		if last = fmt.Sprintf("%d after %d ms", a.Status, a.LatencyMS); a.Error != "" {
			last = a.Error
		}
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d %s\t%s\n", command.Stamp(&d.CreatedAt), d.ID, d.Type, d.About, d.State, len(d.Attempts), server.Plural("attempt", int64(len(d.Attempts))), last)
}

func newWebhookDeliveries() *cobra.Command {
	cmd := &cobra.Command{Use: "deliveries WEBHOOK_ID", Short: "List what was sent to a webhook", Long: "Lists the events of the last 30 days, the newest first, whether they arrived, and how the last attempt went.",
		Example: "  parley webhook deliveries wh_… --limit 5", Args: cobra.ExactArgs(1)}
	limit := cmd.Flags().Int("limit", 20, "how many at most, 1 to 1000")
	return server.Ask(cmd, command.OneObject, func(q *server.Request, args []string) error {
		if *limit < 1 || *limit > server.MostListed {
			return command.UsageError(fmt.Sprintf("--limit: from 1 to %d", server.MostListed))
		}
		list, more, err := q.Deliveries(q.Ctx, args[0], *limit)
		if err != nil {
			return err
		}
		return server.Listed(q, list, more, "event", showDelivery)
	})
}

func newWebhookTest() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "test WEBHOOK_ID", Short: "Send a test event to a webhook", Long: "Sends an event webhook.test, whatever the webhook asks for. parley webhook deliveries says whether it has arrived.",
		Example: "  parley webhook test wh_…", Args: cobra.ExactArgs(1)}, command.OneObject, func(q *server.Request, args []string) error {
		d, err := q.TestWebhook(q.Ctx, args[0])
		if err != nil {
			return err
		}
		return q.Answer(d, func(w io.Writer) { showDelivery(w, d) })
	})
}

func newWebhookRetry() *cobra.Command {
	return server.Ask(&cobra.Command{Use: "retry WEBHOOK_ID EVENT_ID", Short: "Send an event once more", Long: "Sends an event once more, now, whether it arrived before or not.",
		Example: "  parley webhook retry wh_… evt_…", Args: cobra.ExactArgs(2)}, command.OneObject, func(q *server.Request, args []string) error {
		d, err := q.RetryDelivery(q.Ctx, args[0], args[1])
		if err != nil {
			return err
		}
		return q.Answer(d, func(w io.Writer) { showDelivery(w, d) })
	})
}
