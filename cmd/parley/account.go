package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"parley/billing"
	"parley/store"
)

func newAccountCommand() *cobra.Command {
	return group("account", "Accounts: create, credit, show, set, list",
		newAccountCreate(), newAccountCredit(), newAccountShow(), newAccountSet(), newAccountList())
}

// accountView is an account as commands print it. Money is a JSON number of
// US dollars.
type accountView struct {
	ID          string     `json:"account_id"`
	Name        string     `json:"name"`
	CreatedAt   time.Time  `json:"created_at"`
	Balance     money      `json:"balance"`
	Pots        potsView   `json:"pots"`
	Holds       money      `json:"holds"`
	FirstTopup  *time.Time `json:"first_topup_at"`
	Concurrency *int       `json:"concurrency"` // null: the rate card's
	Live        int        `json:"live_sessions"`
	Disputed    bool       `json:"disputed"`
	Suspended   bool       `json:"suspended"`
	APIKey      string     `json:"api_key,omitempty"` // only when it was just made
}

type potsView struct {
	Paid  money `json:"paid"`
	Bonus money `json:"bonus"`
}

type money = billing.Money

func viewAccount(a *store.Account) accountView {
	return accountView{ID: a.ID, Name: a.Name, CreatedAt: a.CreatedAt, Balance: a.Balance(),
		Pots: potsView{a.Pots.PaidLeft(), a.Pots.BonusLeft()}, Holds: a.Pots.Held, FirstTopup: a.FirstTopupAt,
		Concurrency: a.Concurrency, Live: a.Live, Disputed: a.OpenDisputes > 0, Suspended: a.Suspended}
}

func (v *accountView) show(w io.Writer) {
	limit := "the rate card's"
	if v.Concurrency != nil {
		limit = fmt.Sprint(*v.Concurrency)
	}
	fmt.Fprintf(w, "account\t%s\nname\t%s\nbalance\t%s USD\n", v.ID, v.Name, v.Balance)
	fmt.Fprintf(w, "pots\tpaid %s, bonus %s, held %s\n", v.Pots.Paid, v.Pots.Bonus, v.Holds)
	fmt.Fprintf(w, "first top-up\t%s\nconcurrency\t%s, %d live\n", stamp(v.FirstTopup), limit, v.Live)
	fmt.Fprintf(w, "disputed\t%v\nsuspended\t%v\n", v.Disputed, v.Suspended)
	if v.APIKey != "" {
		fmt.Fprintf(w, "API key\t%s\t(shown once: keep it)\n", v.APIKey)
	}
}

func newAccountCreate() *cobra.Command {
	var name string
	cmd := &cobra.Command{Use: "create --name NAME", Short: "Create an account with its welcome credit and an API key",
		Long:    "Creates an account with its welcome credit and one API key, which is shown only here.",
		Example: "  parley account create --name 'Casa Lola' --json", Args: cobra.NoArgs}
	adminCommand(cmd, func(a *admin, _ []string) error {
		card, err := a.card(cmd)
		if err != nil {
			return err
		}
		account, err := a.db.CreateAccount(a.ctx, name, card, a.now)
		if err != nil {
			return err
		}
		_, secret, err := a.db.CreateKey(a.ctx, account.ID, "first key", a.now)
		if err != nil {
			return err
		}
		v := viewAccount(account)
		v.APIKey = secret
		return a.print(v, v.show)
	})
	cmd.Flags().StringVar(&name, "name", "", "name of the account")
	_ = cmd.MarkFlagRequired("name")
	return cmd
}

func newAccountShow() *cobra.Command {
	return adminCommand(&cobra.Command{Use: "show ACCOUNT_ID", Short: "Show balance, pots, limits and state",
		Example: "  parley account show acc_… --json", Args: cobra.ExactArgs(1)}, showAccount)
}

func showAccount(a *admin, args []string) error {
	account, err := a.db.Account(a.ctx, args[0])
	if err != nil {
		return err
	}
	v := viewAccount(account)
	return a.print(v, v.show)
}

func newAccountList() *cobra.Command {
	return adminCommand(&cobra.Command{Use: "list", Short: "List accounts, newest first", Args: cobra.NoArgs},
		func(a *admin, _ []string) error {
			accounts, err := a.db.Accounts(a.ctx, store.Page{})
			if err != nil {
				return err
			}
			views := make([]accountView, len(accounts))
			for i := range accounts {
				views[i] = viewAccount(&accounts[i])
			}
			return a.print(map[string]any{"accounts": views}, func(w io.Writer) {
				for _, v := range views {
					fmt.Fprintf(w, "%s\t%s\t%s USD\n", v.ID, v.Name, v.Balance)
				}
			})
		})
}

func newAccountSet() *cobra.Command {
	var concurrency int
	var suspended bool
	cmd := &cobra.Command{Use: "set ACCOUNT_ID", Short: "Set an account's concurrency, suspend it or let it go on",
		Example: "  parley account set acc_… --concurrency 50\n  parley account set acc_… --suspended=true", Args: cobra.ExactArgs(1)}
	adminCommand(cmd, func(a *admin, args []string) error {
		var change store.AccountChange
		if cmd.Flags().Changed("concurrency") {
			change.Concurrency = &concurrency
		}
		if cmd.Flags().Changed("suspended") {
			change.Suspended = &suspended
		}
		if err := a.db.ChangeAccount(a.ctx, args[0], change, a.now); err != nil {
			return err
		}
		return showAccount(a, args)
	})
	cmd.Flags().IntVar(&concurrency, "concurrency", 0, "simultaneous sessions, 1 to 100000; 0: the rate card's")
	cmd.Flags().BoolVar(&suspended, "suspended", false, "refuse new sessions")
	return cmd
}

// bonusLife is how long a bonus lasts that says nothing else.
const bonusLife = 90

func newAccountCredit() *cobra.Command {
	var kind, key string
	var days int
	cmd := &cobra.Command{Use: "credit ACCOUNT_ID AMOUNT --kind topup|bonus|adjustment", Short: "Post money to an account's ledger",
		Long: "Posts one entry in US dollars. A topup counts as a payment received. A negative adjustment is written after --.\n" +
			"With --key the same credit happens once, however often it is repeated.",
		Example: "  parley account credit acc_… 20 --kind topup\n  parley account credit acc_… --kind adjustment -- -1.50", Args: cobra.ExactArgs(2)}
	adminCommand(cmd, func(a *admin, args []string) error {
		amount, err := billing.ParseMoney(args[1])
		if err != nil {
			return fmt.Errorf("%w: amount: %w", store.ErrInvalid, err)
		}
		credit := store.Credit{Account: args[0], Kind: store.TransferKind(kind), Amount: amount, Source: "operator", Key: "operator:" + key}
		if key == "" {
			credit.Key = "operator:" + rand.Text()
		}
		if credit.Kind == store.Bonus {
			credit.ExpiresAt = a.now.AddDate(0, 0, days)
		}
		pots, applied, err := a.db.Credit(a.ctx, credit, a.now)
		if err != nil {
			return err
		}
		answer := map[string]any{"account_id": args[0], "kind": kind, "amount": amount, "balance": pots.Balance(), "applied": applied}
		return a.print(answer, func(w io.Writer) {
			if !applied {
				fmt.Fprintln(w, "this credit was posted before; nothing has changed")
			}
			fmt.Fprintf(w, "balance\t%s USD\n", pots.Balance())
		})
	})
	cmd.Flags().StringVar(&kind, "kind", "", "topup, bonus or adjustment")
	cmd.Flags().StringVar(&key, "key", "", "makes the credit happen once")
	cmd.Flags().IntVar(&days, "days", bonusLife, "how long a bonus lasts")
	_ = cmd.MarkFlagRequired("kind")
	return cmd
}
