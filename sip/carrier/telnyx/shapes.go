package telnyx

import (
	"slices"

	"parley/billing"
	"parley/sip/carrier"
)

// The documents of the API, as far as they are used.

type availableNumber struct {
	PhoneNumber string `json:"phone_number"`
	Cost        struct {
		Currency string `json:"currency"`
		Monthly  string `json:"monthly_cost"` // "1.00000"
		Upfront  string `json:"upfront_cost"`
	} `json:"cost_information"`
	Features []struct {
		Name string `json:"name"`
	} `json:"features"`
	Regions []struct {
		Type string `json:"region_type"` // country_code, state, location, rate_center
		Name string `json:"region_name"`
	} `json:"region_information"`
}

// offer leaves out what cannot be sold: a number without calls, or with a price that
// cannot be read or compared.
func (a availableNumber) offer(country string) (o carrier.Offer, ok bool) {
	monthly, err := billing.ParseMoney(a.Cost.Monthly)
	if err != nil || monthly < 0 {
		return o, false
	}
	upfront, err := billing.ParseMoney(a.Cost.Upfront)
	if err != nil || upfront < 0 || a.Cost.Currency != "USD" {
		return o, false
	}
	o = carrier.Offer{Number: a.PhoneNumber, Country: country, Monthly: monthly, Upfront: upfront}
	for _, f := range a.Features {
		o.Features = append(o.Features, f.Name)
	}
	for _, r := range a.Regions {
		switch {
		case r.Type == "state":
			o.Region = r.Name
		case r.Type == "location", r.Type == "rate_center" && o.Locality == "":
			o.Locality = r.Name
		}
	}
	return o, carrier.ValidNumber(o.Number) && (len(o.Features) == 0 || slices.Contains(o.Features, "voice"))
}

type numberOrder struct {
	Reference string `json:"customer_reference"`
	Status    string `json:"status"` // pending, success, failure
	// Met is false when a country wants documents that are missing. Absent is not false.
	Met     *bool           `json:"requirements_met"`
	Numbers []orderedNumber `json:"phone_numbers"`
}

type orderedNumber struct {
	PhoneNumber string `json:"phone_number"`
	Status      string `json:"status"` // missing in lists
	Met         *bool  `json:"requirements_met"`
}

// number is the one number that every order of ours is for.
func (o *numberOrder) number() string {
	if len(o.Numbers) == 0 {
		return ""
	}
	return o.Numbers[0].PhoneNumber
}

// status is the number's own where it is known, else the order's.
func (o *numberOrder) status() string {
	if len(o.Numbers) > 0 && o.Numbers[0].Status != "" && o.Status != "failure" {
		return o.Numbers[0].Status
	}
	return o.Status
}

// waitsForDocuments says whether somebody has to hand in documents.
func (o *numberOrder) waitsForDocuments() bool {
	met := o.Met
	if len(o.Numbers) > 0 && o.Numbers[0].Met != nil {
		met = o.Numbers[0].Met
	}
	return met != nil && !*met
}

type phoneNumber struct {
	ID          string `json:"id"`
	PhoneNumber string `json:"phone_number"`
	Status      string `json:"status"`
	Reference   string `json:"customer_reference"` // of its order
}

// apiErrors is the body of a refusal.
type apiErrors struct {
	Errors []struct {
		Title  string `json:"title"`
		Detail string `json:"detail"`
	} `json:"errors"`
}
