package simulated

import (
	"fmt"

	"parley/billing"
	"parley/sip/carrier"
)

// perCountry is how many numbers each country has.
const perCountry = 60

// place is a town that has numbers: prefix and two more digits, counted from 00.
type place struct{ region, locality, prefix string }

// places lists where the numbers are, an equal part in each place of a country. Regions are ISO 3166-2
// without the country. Numbers are of the ranges set aside for fiction by NANPA, Ofcom, the
// Bundesnetzagentur and ARCEP; Spain, Italy and Portugal have none, so theirs are row upon row of
// zeros. All are valid in their numbering plans.
var places = map[string][]place{
	"US": {
		{"NY", "New York", "+121255501"}, {"CA", "Los Angeles", "+121355501"}, {"CA", "San Francisco", "+141555501"},
		{"IL", "Chicago", "+131255501"}, {"TX", "Houston", "+171355501"}, {"FL", "Miami", "+130555501"},
	},
	"GB": {
		{"ENG", "London", "+4420794601"}, {"ENG", "Manchester", "+4416149601"}, {"SCT", "Edinburgh", "+4413149601"},
		{"SCT", "Glasgow", "+4414149601"}, {"WLS", "Cardiff", "+4429201801"}, {"NIR", "Belfast", "+4428964961"},
	},
	"DE": {
		{"BE", "Berlin", "+4930231251"}, {"HE", "Frankfurt am Main", "+4969900091"}, {"HH", "Hamburg", "+4940669691"},
		{"NW", "Köln", "+4922147101"}, {"BY", "München", "+4989999981"},
	},
	"FR": {
		{"IDF", "Paris", "+331990012"}, {"BRE", "Rennes", "+332619112"}, {"GES", "Strasbourg", "+333530112"},
		{"ARA", "Lyon", "+334657112"}, {"NAQ", "Bordeaux", "+335364912"},
	},
	"ES": {
		{"MD", "Madrid", "+349100001"}, {"CT", "Barcelona", "+349300001"}, {"VC", "Valencia", "+349600001"},
		{"AN", "Sevilla", "+349540001"}, {"PV", "Bilbao", "+349440001"}, {"AR", "Zaragoza", "+349760001"},
	},
	"IT": {
		{"RM", "Roma", "+3906000010"}, {"MI", "Milano", "+3902000010"}, {"TO", "Torino", "+3901100001"},
		{"NA", "Napoli", "+3908100001"}, {"BO", "Bologna", "+3905100001"}, {"FI", "Firenze", "+3905500001"},
	},
	"PT": {
		{"11", "Lisboa", "+3512100001"}, {"13", "Porto", "+3512200001"}, {"06", "Coimbra", "+3512390001"},
		{"03", "Braga", "+3512530001"}, {"08", "Faro", "+3512890001"}, {"30", "Funchal", "+3512910001"},
	},
}

// What the last digit of a number says about it.
const (
	lateDigit = '4' // active only after Late
	dearDigit = '9' // costs more than the service includes
)

func isLate(number string) bool { return number[len(number)-1] == lateDigit }

// inventory is every number of a country, sold or not, in the order of searches. It
// goes round the places, so that a page shows all of them.
func inventory(country string) []carrier.Offer {
	list := places[country]
	if len(list) == 0 {
		return nil
	}
	out := make([]carrier.Offer, 0, perCountry)
	for i := range perCountry {
		p, n := list[i%len(list)], i/len(list)
		o := carrier.Offer{
			Number: fmt.Sprintf("%s%02d", p.prefix, n), Country: country, Region: p.region, Locality: p.locality,
			Features: []string{"voice", "sms"},
			// Within what a number of the service includes, and not all alike.
			Monthly: billing.USD + billing.Money(n%4)*50*billing.Cent, Upfront: billing.Money(n%3) * billing.USD,
		}
		if o.Number[len(o.Number)-1] == dearDigit {
			o.Monthly = 12*billing.USD + 50*billing.Cent
		}
		out = append(out, o)
	}
	return out
}

// find gives the offer of one number.
func find(number string) (carrier.Offer, bool) {
	for country := range places {
		for _, o := range inventory(country) {
			if o.Number == number {
				return o, true
			}
		}
	}
	return carrier.Offer{}, false
}
