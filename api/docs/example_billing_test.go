package docs_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

func Example_autoRecharge() {
	const path = "/v1/auto-recharge"
	var now struct {
		Enabled     bool
		CardSaved   bool                     `json:"card_saved"`
		Charged     json.Number              `json:"charged_this_month"`
		MonthlyCap  json.Number              `json:"monthly_cap"`
		LastFailure *struct{ Reason string } `json:"last_failure"`
	}
	// A card has to have paid a top-up before this can be enabled.
	ask("GET", path, "", &now)
	if now.LastFailure != nil {
		fmt.Println("The last charge failed:", now.LastFailure.Reason)
	}
	ask("PUT", path, fmt.Sprintf(`{"enabled": %t, "threshold": 10, "amount": 50, "monthly_cap": 200}`, now.CardSaved), &now)
	// What is not sent stays as it is.
	ask("PATCH", path, `{"monthly_cap": 300}`, &now)
	fmt.Println(now.Charged, "of", now.MonthlyCap, "charged this month")
}

func Example_balance() {
	var wallet struct {
		Balance, Paid, Bonus json.Number // exact, as the service writes them
		Warnings             []struct{ Kind, Message string }
	}
	ask("GET", "/v1/balance", "", &wallet)
	fmt.Printf("Balance %s USD: %s paid, %s bonus\n", wallet.Balance, wallet.Paid, wallet.Bonus)
	for _, warning := range wallet.Warnings {
		fmt.Println(warning.Kind, warning.Message)
	}
}

func Example_events() {
	var events struct {
		Data []struct {
			Kind, Message string
			CreatedAt     string `json:"created_at"`
		}
	}
	ask("GET", "/v1/events?limit=10", "", &events)
	fmt.Println(len(events.Data), "events")
	for _, event := range events.Data {
		fmt.Println(event.CreatedAt, event.Kind, event.Message)
	}
}

func Example_pricing() {
	answer, err := http.Get(os.Getenv("PARLEY_URL") + "/v1/pricing")
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	var card struct {
		Version, Currency string
		Agent             struct {
			PlatformPerMinute json.Number `json:"platform_per_minute"`
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&card); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("Card %s: a minute with an agent costs %s %s\n", card.Version, card.Agent.PlatformPerMinute, card.Currency)
}

func Example_receipt() {
	// Something that costs.
	send("POST", "/tts/synthesize", `{"text": "This costs me.", "voice": "F1", "language": "en"}`).Body.Close()

	var ledger struct {
		Data []struct {
			At           string
			Amount       json.Number // amounts are exact
			BalanceAfter json.Number `json:"balance_after"`
			Component    string
			SessionID    string `json:"session_id"`
		}
	}
	ask("GET", "/v1/ledger?kind=usage&limit=100", "", &ledger)
	for _, entry := range ledger.Data {
		if entry.Component != "tts" {
			continue
		}
		fmt.Printf("%s %s USD, then there were %s USD\n", entry.At, entry.Amount, entry.BalanceAfter)
		var receipt struct {
			Lines []struct {
				Component, Unit  string
				Quantity, Amount json.Number
			}
			Total        json.Number
			PriceVersion string `json:"price_version"`
		}
		ask("GET", "/v1/calls/"+entry.SessionID+"/receipt", "", &receipt)
		for _, l := range receipt.Lines {
			fmt.Printf("%s: %s %ss, %s USD\n", l.Component, l.Quantity, l.Unit, l.Amount)
		}
		fmt.Printf("total %s USD by rate card %s\n", receipt.Total, receipt.PriceVersion)
		return
	}
}

func Example_spendingLimits() {
	// In place of account stands the identifier of a key or an agent; null takes the limit away.
	send("PATCH", "/v1/spending-limits/account", `{"daily_limit": 20}`).Body.Close()
	var list struct {
		Data []struct {
			Name       string
			Spent      json.Number
			DailyLimit json.Number `json:"daily_limit"`
		}
	}
	ask("GET", "/v1/spending-limits", "", &list)
	for _, l := range list.Data {
		fmt.Println(l.Name, l.Spent, "of", l.DailyLimit)
	}
}

type topup struct {
	ID, State, URL string
	Amount         json.Number
}

func Example_topup() {
	var made, now topup
	ask("POST", "/v1/topups", `{"amount": 25}`, &made)
	fmt.Println("Pay at", made.URL)
	ask("GET", "/v1/topups/"+made.ID, "", &now)
	fmt.Println(now.ID, now.State) // succeeded once it is paid
	var list struct{ Data []topup }
	ask("GET", "/v1/topups?limit=5", "", &list)
	for _, one := range list.Data {
		fmt.Println(one.ID, one.Amount, one.State)
	}
}

func Example_engineUsage() {
	type used struct {
		Engine, Unit string
		Owner        string `json:"key_owner"`
		Quantity     float64
		Cost, Price  json.Number // empty: not known, or it is part of the price of the sessions
	}
	// Of your account, in calls and in everything else.
	var own, all struct{ Data []used }
	ask("GET", "/v1/usage/engines?from=2026-03-01", "", &own)
	for _, u := range own.Data {
		fmt.Println(u.Engine, u.Quantity, u.Unit, "on the key of the", u.Owner)
	}
	// Of all accounts, with what the vendors charge: for operators.
	operate("GET", "/v1/operator/usage/engines?from=2026-03-01", "", &all)
	for _, u := range all.Data {
		fmt.Println(u.Engine, u.Quantity, u.Unit, "costs", u.Cost, "and brings", u.Price)
	}
	fmt.Println(len(all.Data), "lines of data")
}

func Example_usage() {
	var usage struct {
		Data []struct {
			Components []struct {
				Component, Unit  string
				Quantity, Amount json.Number // amounts are exact
			}
		}
		Total, Accrued json.Number
	}
	ask("GET", "/v1/usage?group_by=component&from=2026-03-01", "", &usage)
	for _, group := range usage.Data {
		for _, c := range group.Components {
			fmt.Printf("%s: %s %ss, %s USD\n", c.Component, c.Quantity, c.Unit, c.Amount)
		}
	}
	fmt.Printf("total %s USD, and %s USD in progress\n", usage.Total, usage.Accrued)

	// Tables for the books; reading fails when one breaks off.
	for _, name := range []string{"usage.csv", "ledger.csv"} {
		table := send("GET", "/v1/"+name, "")
		rows, err := csv.NewReader(table.Body).ReadAll()
		table.Body.Close()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(strings.Join(rows[0], ","))
	}
}
