package admin

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"parley/api/manage"
	"parley/api/wallet"
	"parley/api/wire"
	"parley/billing"
	"parley/cmd/parley/command"
	"parley/store"
	"parley/store/ledger"
	"parley/store/payments"
	"parley/store/people"
)

func newAccountCommand() *cobra.Command {
	return command.Group("account", "Accounts: create, credit, refund, dispute, show, set, list, topups, members",
		"An account owns keys, agents, numbers and a prepaid balance in US dollars. These commands work on the server's database,\n"+
			"whether the server runs or not.", "  parley admin account create --name 'Casa Lola'",
		newAccountCreate(), newAccountCredit(), newAccountShow(), newAccountSet(), newAccountList(),
		newAccountDispute(), newAccountRefund(), newAccountTopups(), newAccountMembers())
}

// accountView is an account as commands print it. Money is a JSON number of
// US dollars.
type accountView struct {
	ID          string     `json:"account_id"`
	Name        string     `json:"name"`
	Email       string     `json:"email"` // where warnings are mailed; empty: nowhere
	CreatedAt   time.Time  `json:"created_at"`
	Balance     money      `json:"balance"`
	Pots        potsView   `json:"pots"`
	Holds       money      `json:"holds"`
	FirstTopup  *time.Time `json:"first_topup_at"`
	Concurrency *int       `json:"concurrency"` // null: the rate card's
	Live        int        `json:"live_sessions"`
	Disputed    bool       `json:"disputed"`
	Suspended   bool       `json:"suspended"`
	KeepDays    int        `json:"recording_days"`
	TalkDays    *int       `json:"conversation_days"` // null: until somebody asks
	APIKey      string     `json:"api_key,omitempty"` // only when it was just made
	// Recharge is absent where it is off and has not failed.
	Recharge *rechargeView `json:"auto_recharge,omitempty"`
	// Limits are those of spending, of the account, its keys and its agents.
	Limits []wire.SpendingLimit `json:"spending_limits,omitempty"`
}

type rechargeView struct {
	Enabled    bool   `json:"enabled"`
	Threshold  money  `json:"threshold"`
	Amount     money  `json:"amount"`
	MonthlyCap money  `json:"monthly_cap"`
	Charged    money  `json:"charged_this_month"`
	Failure    string `json:"last_failure,omitempty"`
}

type potsView struct {
	Paid  money `json:"paid"`
	Bonus money `json:"bonus"`
}

type money = billing.Money

func viewAccount(a *ledger.Account) accountView {
	return accountView{ID: a.ID, Name: a.Name, Email: a.Email, CreatedAt: a.CreatedAt, Balance: a.Balance(),
		Pots: potsView{a.Pots.PaidLeft(), a.Pots.BonusLeft()}, Holds: a.Pots.Held, FirstTopup: a.FirstTopupAt,
		Concurrency: a.Concurrency, Live: a.Live, Disputed: a.OpenDisputes > 0, Suspended: a.Suspended, KeepDays: a.RecordingDays, TalkDays: a.ConversationDays}
}

func (v *accountView) show(w io.Writer) {
	limit := "the rate card's"
	if v.Concurrency != nil {
		limit = fmt.Sprint(*v.Concurrency)
	}
	fmt.Fprintf(w, "account\t%s\nname\t%s\n", v.ID, v.Name)
	if v.Email != "" {
		fmt.Fprintf(w, "warnings to\t%s\n", v.Email)
	}
	fmt.Fprintf(w, "balance\t%s USD\n", v.Balance)
	fmt.Fprintf(w, "pots\tpaid %s, bonus %s, held %s\n", v.Pots.Paid, v.Pots.Bonus, v.Holds)
	fmt.Fprintf(w, "first top-up\t%s\nconcurrency\t%s, %d live\n", command.Stamp(v.FirstTopup), limit, v.Live)
	fmt.Fprintf(w, "disputed\t%v\nsuspended\t%v\nrecordings\tkept for %d days\n", v.Disputed, v.Suspended, v.KeepDays)
	if v.TalkDays != nil {
		fmt.Fprintf(w, "conversations\tkept for %d days\n", *v.TalkDays)
	}
	if r := v.Recharge; r != nil {
		state := "on"
		if !r.Enabled {
			state = "off (" + r.Failure + ")"
		}
		fmt.Fprintf(w, "recharge\t%s, by %s USD below %s USD, %s of %s USD this month\n", state, r.Amount, r.Threshold, r.Charged, r.MonthlyCap)
	}
	for _, l := range v.Limits {
		fmt.Fprintf(w, "limit\t%s, %s of %s USD spent today, %s held\n", l.ID, l.Spent, l.DailyLimit.Amount, l.Held)
	}
	if v.APIKey != "" {
		fmt.Fprintf(w, "API key\t%s\t(shown once: keep it)\n", v.APIKey)
	}
}

func newAccountCreate() *cobra.Command {
	cmd := &cobra.Command{Use: "create --name NAME [--email ADDRESS]", Short: "Create an account with its welcome credit and an API key",
		Long: "Creates an account with its welcome credit and one API key with the role owner and the mark money, which is shown\n" +
			"only here. Warnings, as of a low balance, are mailed to the address, if the server has a mail server (PARLEY_SMTP_URL).",
		Example: "  parley admin account create --name 'Casa Lola' --email lola@example.com --json", Args: cobra.NoArgs}
	name, email := cmd.Flags().String("name", "", "name of the account"), cmd.Flags().String("email", "", "where warnings are mailed")
	_ = cmd.MarkFlagRequired("name")
	return adminCommand(cmd, func(a *admin, _ []string) error {
		card, err := a.card()
		if err != nil {
			return err
		}
		change := ledger.AccountChange{Email: email}
		if err := change.Check(); err != nil { // before there is an account
			return err
		}
		account, err := a.ledger.CreateAccount(a.Ctx, *name, card)
		if err == nil && *email != "" {
			account.Email = *email
			err = a.ledger.ChangeAccount(a.Ctx, account.ID, change)
		}
		if err != nil {
			return err
		}
		_, secret, err := a.people.FirstKey(a.Ctx, account.ID, "first key", "")
		if err != nil {
			return err
		}
		v := viewAccount(account)
		v.APIKey = secret
		return a.show(&v)
	})
}

func newAccountShow() *cobra.Command {
	return adminCommand(&cobra.Command{Use: "show ACCOUNT_ID", Short: "Show balance, pots, limits and state",
		Long:    "Shows an account: its balance and the pots it is made of, what is held for sessions in progress, limits and state.",
		Example: "  parley admin account show acc_… --json", Args: cobra.ExactArgs(1)}, showAccount)
}

func showAccount(a *admin, args []string) error {
	account, err := a.ledger.Account(a.Ctx, args[0])
	if err != nil {
		return err
	}
	v := viewAccount(account)
	r, err := payments.New(a.db).Recharge(a.Ctx, account.ID, "", payments.Recharge{})
	if err != nil {
		return err
	}
	if r.Enabled || r.Failure != "" {
		v.Recharge = &rechargeView{r.Enabled, r.Threshold, r.Amount, r.MonthlyCap, r.Charged, string(r.Failure)}
	}
	limits, err := a.ledger.SpendingLimits(a.Ctx, account.ID, store.Page{})
	if err != nil {
		return err
	}
	for _, l := range limits {
		if l.Limit != nil {
			v.Limits = append(v.Limits, wallet.ViewLimit(&l))
		}
	}
	return a.show(&v)
}

func newAccountList() *cobra.Command {
	return adminCommand(&cobra.Command{Use: "list", Short: "List accounts, newest first",
		Long: "Lists the accounts, newest first, with their balances.", Example: "  parley admin account list --json", Args: cobra.NoArgs},
		func(a *admin, _ []string) error {
			line := func(v accountView, w io.Writer) { fmt.Fprintf(w, "%s\t%s\t%s USD\n", v.ID, v.Name, v.Balance) }
			return listed(a, "accounts", viewAccount, line)(a.ledger.Accounts(a.Ctx, store.Page{}))
		})
}

func newAccountSet() *cobra.Command {
	cmd := &cobra.Command{Use: "set ACCOUNT_ID", Short: "Set an account's limits, mail address or retention, suspend it or let it go on",
		Long: "Changes what is mentioned and leaves the rest. A suspended account starts nothing, and its conversations say\n" +
			"goodbye and end within seconds. Owners set daily limits in the dashboard, too: under Balance, API keys and each agent's settings.",
		Example: "  parley admin account set acc_… --concurrency 50\n  parley admin account set acc_… --suspended=true\n  parley admin account set acc_… --daily-limit 20 --limit-of key_…", Args: cobra.ExactArgs(1)}
	concurrency := cmd.Flags().Int("concurrency", 0, "simultaneous sessions, 1 to 100000; 0: the rate card's")
	recordingDays := cmd.Flags().Int("recording-days", 0, "days for which recordings of calls are kept, 1 to 3650; those that are there, too")
	conversationDays := cmd.Flags().Int("conversation-days", 0, "days for which transcripts, summaries and all else that was said is kept, 1 to 3650, recordings included; 0: until it is deleted")
	suspended := cmd.Flags().Bool("suspended", false, "end its sessions and refuse new ones")
	email := cmd.Flags().String("email", "", "where warnings are mailed; empty: nowhere")
	dailyLimit := cmd.Flags().String("daily-limit", "", "US dollars that may be spent in a day (UTC); none takes the limit away")
	of := cmd.Flags().String("limit-of", "", "the key or the agent that --daily-limit is of; empty: the account")
	return adminCommand(cmd, func(a *admin, args []string) error {
		change := ledger.AccountChange{
			Concurrency:      given(cmd, "concurrency", concurrency),
			Suspended:        given(cmd, "suspended", suspended),
			Email:            given(cmd, "email", email),
			RecordingDays:    given(cmd, "recording-days", recordingDays),
			ConversationDays: given(cmd, "conversation-days", conversationDays),
		}
		limit, err := limitFlag(*dailyLimit)
		if err != nil {
			return err
		}
		if err := a.ledger.ChangeAccount(a.Ctx, args[0], change); err != nil {
			return err
		}
		if *dailyLimit != "" {
			if _, err := a.ledger.SetSpendingLimit(a.Ctx, args[0], cmp.Or(*of, args[0]), limit); err != nil {
				return err
			}
		}
		return showAccount(a, args)
	})
}

// given is the value of a flag that the command line has; nil: it has not.
func given[T any](cmd *cobra.Command, flag string, value *T) *T {
	if !cmd.Flags().Changed(flag) {
		return nil
	}
	return value
}

// limitFlag reads a limit of spending; nil: none.
func limitFlag(text string) (*billing.Money, error) {
	if text == "" || text == "none" {
		return nil, nil
	}
	m, err := billing.ParseMoney(text)
	if err != nil {
		return nil, fmt.Errorf("%w: --daily-limit: %w", store.ErrInvalid, err)
	}
	return &m, nil
}

// bonusLife is how long a bonus lasts that says nothing else.
const bonusLife = 90

func newAccountCredit() *cobra.Command {
	cmd := &cobra.Command{Use: "credit ACCOUNT_ID AMOUNT --kind topup|bonus|adjustment", Short: "Post money to an account's ledger",
		Long: "Posts one entry in US dollars. A topup counts as a payment received. A negative adjustment is written after --.\n" +
			"With --key the same credit happens once, however often it is repeated.",
		Example: "  parley admin account credit acc_… 20 --kind topup\n  parley admin account credit acc_… --kind adjustment -- -1.50", Args: cobra.ExactArgs(2)}
	kind := cmd.Flags().String("kind", "", "topup, bonus or adjustment")
	key := cmd.Flags().String("key", "", "makes the credit happen once")
	days := cmd.Flags().Int("days", bonusLife, "how long a bonus lasts")
	_ = cmd.MarkFlagRequired("kind")
	command.Complete(cmd, map[string][]string{"kind": {string(ledger.Topup), string(ledger.Bonus), string(ledger.Adjustment)}})
	return adminCommand(cmd, func(a *admin, args []string) error {
		amount, err := billing.ParseMoney(args[1])
		if err != nil {
			return fmt.Errorf("%w: amount: %w", store.ErrInvalid, err)
		}
		credit := ledger.Credit{Account: args[0], Kind: ledger.TransferKind(*kind), Amount: amount, Source: "operator", Key: "operator:" + cmp.Or(*key, rand.Text())}
		if credit.Kind == ledger.Bonus {
			credit.ExpiresAt = a.db.Now().AddDate(0, 0, *days)
		}
		pots, applied, err := a.ledger.Credit(a.Ctx, credit)
		if err != nil {
			return err
		}
		answer := map[string]any{"account_id": args[0], "kind": kind, "amount": amount, "balance": pots.Balance(), "applied": applied}
		return a.Answer(answer, func(w io.Writer) {
			if !applied {
				fmt.Fprintln(w, "this credit was posted before; nothing has changed")
			}
			fmt.Fprintf(w, "balance\t%s USD\n", pots.Balance())
		})
	})
}

func newAccountMembers() *cobra.Command {
	return adminCommand(&cobra.Command{Use: "members ACCOUNT_ID", Short: "List the people of an account",
		Long:    "Lists who signs in to an account, owners first, with when they did so last.",
		Example: "  parley admin account members acc_… --json", Args: cobra.ExactArgs(1)},
		func(a *admin, args []string) error {
			view := func(m *people.Membership) wire.Member { return manage.Members([]people.Membership{*m})[0] }
			return listOf(a, args[0], "members", a.people.Members, view, func(m wire.Member, w io.Writer) {
				fmt.Fprintf(w, "%s\t%s\t%s\tsigned in %s\n", m.User, m.Email, m.Role, command.Stamp(m.SignedInAt))
			})
		})
}
