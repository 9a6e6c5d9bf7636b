package crm

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// hubspot speaks the CRM API of HubSpot, version 3. The key is the access token of a
// private app that may read contacts and write calls
// (crm.objects.contacts.read, crm.objects.contacts.write).
type hubspot struct{ caller }

const (
	HubSpotAddress = "https://api.hubapi.com"
	// callToContact is the type of the association of a call with a contact that
	// HubSpot defines (CRM API guides, "Associations").
	callToContact = 194
)

// object is a record of HubSpot: an identifier and properties, all of them texts.
type object struct {
	ID           string             `json:"id,omitempty"`
	Properties   map[string]*string `json:"properties"`
	Associations []association      `json:"associations,omitempty"`
}

func (o *object) property(name string) string {
	if p := o.Properties[name]; p != nil {
		return *p
	}
	return ""
}

type association struct {
	To    objectID          `json:"to"`
	Types []associationType `json:"types"`
}

type objectID struct {
	ID string `json:"id"`
}

type associationType struct {
	Category string `json:"associationCategory"`
	ID       int    `json:"associationTypeId"`
}

// query is a search: groups of filters, of which one must hold as a whole.
type query struct {
	Groups     []group  `json:"filterGroups"`
	Properties []string `json:"properties"`
	Limit      int      `json:"limit"`
}

type group struct {
	Filters []filter `json:"filters"`
}

type filter struct {
	Property string `json:"propertyName"`
	Operator string `json:"operator"`
	Value    string `json:"value"`
}

type results struct {
	Results []object `json:"results"`
}

func equal(property, value string) group {
	return group{[]filter{{property, "EQ", value}}}
}

// Contact implements CRM. HubSpot keeps numbers as somebody typed them, and besides
// in a form for searches that has no country code.
func (h *hubspot) Contact(ctx context.Context, number string) (*Contact, error) {
	q := query{Groups: []group{equal("phone", number), equal("mobilephone", number)}, Limit: 10,
		Properties: []string{"firstname", "lastname", "company", "email", "phone", "mobilephone"}}
	if n, err := phonenumbers.Parse(number, ""); err == nil {
		national := phonenumbers.GetNationalSignificantNumber(n)
		q.Groups = append(q.Groups, equal("hs_searchable_calculated_phone_number", national),
			equal("hs_searchable_calculated_mobile_number", national))
	}
	var found results
	if err := h.do(ctx, http.MethodPost, "/crm/v3/objects/contacts/search", nil, q, &found); err != nil {
		return nil, err
	}
	for i := range found.Results {
		o := &found.Results[i]
		// The form without a country code finds people of other countries, too.
		if same(number, o.property("phone")) || same(number, o.property("mobilephone")) {
			return &Contact{ID: o.ID, Name: name(o.property("firstname"), o.property("lastname")), Company: o.property("company"),
				Email: o.property("email"), Phone: number}, nil
		}
	}
	return nil, ErrNoContact
}

// same says whether what somebody typed is a number: with its country code or
// without any.
func same(number, typed string) bool {
	n, err := phonenumbers.Parse(number, "")
	if err != nil {
		return number == typed
	}
	t, err := phonenumbers.Parse(typed, phonenumbers.GetRegionCodeForNumber(n))
	return err == nil && t.GetCountryCode() == n.GetCountryCode() && t.GetNationalNumber() == n.GetNationalNumber()
}

// maxBody bounds the text of a call, in bytes; HubSpot takes 65,536 characters.
const maxBody = 60_000

// written is a text as HTML, from its beginning as much as fits.
func written(text string) string {
	for n := len(text); ; n = n * 3 / 4 {
		body := strings.ReplaceAll(html.EscapeString(strings.ToValidUTF8(text[:n], "")), "\n", "<br>")
		if len(body) <= maxBody {
			return body
		}
	}
}

// Log implements CRM. HubSpot knows no key for repetitions, so a call that may be
// there already is looked for by when it began and by its identifier in the text.
func (h *hubspot) Log(ctx context.Context, c Call, again bool) error {
	at := fmt.Sprint(c.StartedAt.UnixMilli())
	if again {
		var found results
		q := query{Groups: []group{equal("hs_timestamp", at)}, Properties: []string{"hs_call_body"}, Limit: 100}
		if err := h.do(ctx, http.MethodPost, "/crm/v3/objects/calls/search", nil, q, &found); err != nil {
			return err
		}
		for i := range found.Results {
			if strings.Contains(found.Results[i].property("hs_call_body"), c.ID) {
				return nil
			}
		}
	}
	direction, status := "OUTBOUND", "COMPLETED"
	if c.Inbound {
		direction = "INBOUND"
	}
	if c.Reason == "failed" {
		status = "FAILED"
	}
	body := written(c.Text) + "<br>" + c.ID
	call := object{Properties: map[string]*string{}}
	for name, value := range map[string]string{"hs_timestamp": at, "hs_call_title": "Call with the voice agent", "hs_call_body": body,
		"hs_call_duration": fmt.Sprint(c.Duration.Milliseconds()), "hs_call_from_number": c.From, "hs_call_to_number": c.To,
		"hs_call_direction": direction, "hs_call_status": status} {
		call.Properties[name] = &value
	}
	if c.Other() != "" {
		contact, err := h.Contact(ctx, c.Other())
		if err != nil && !errors.Is(err, ErrNoContact) {
			return err
		}
		if contact != nil {
			call.Associations = []association{{objectID{contact.ID}, []associationType{{"HUBSPOT_DEFINED", callToContact}}}}
		}
	}
	return h.do(ctx, http.MethodPost, "/crm/v3/objects/calls", nil, call, nil)
}
