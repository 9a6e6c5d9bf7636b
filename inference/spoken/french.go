package spoken

// French of France.
var french = language{
	code: "fr", decimal: ',', group: '.', traits: hourLetter | dialsPairs,
	rules: numbers(`0 zéro {un|une} deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf;
		20+10 vingt trente quarante cinquante [~>]; 60/20 soixante[~>]; 80/20 quatre-vingt(s)[->]; 100 cent[_>]; 200/100 <_cent(s)[_>];
		1000 mille[_>]; 2000/1000 <!m_mille[_>]; 1e6 un_million[_>]; 2e6/1e6 <m_millions[_>]; 1e9 un_milliard[_>]; 2e9/1e9 <m_milliards[_>]`),
	and: "et",
	nouns: gender{
		masculine:       set("problème programme système groupe service mètre kilomètre litre titre livre membre centre étage article exemple siècle contrôle film arbre homme peuple jour mois euro euros musée lycée trajet comité côté été parage passage message voyage village garage stage âge article élève élèves articles étages livres mètres membres exemplaires exemplaire véhicule véhicules invité invités employé employés degré degrés numéro numéros"),
		feminine:        set("personne personnes heure heures minute minutes seconde secondes nuit nuits semaine semaines fois chambre chambres place places table tables page pages livre-sterling année années journée journées ligne lignes carte cartes voiture voitures clé clés porte portes maison maisons rue rues pièce pièces part parts boîte boîtes bouteille bouteilles commande commandes entrée entrées offre offres question questions réponse réponses option options femme femmes fille filles ville villes main mains fleur fleurs classe classes étape étapes équipe équipes unité unités marche marches facture factures tasse tasses assiette assiettes serviette serviettes valise valises demi-heure"),
		none:            set("de du des d et ou en à au aux que qui est pour par avec sans ne pas si se la le les un une sont jusqu jusque comme quand mais car mille million millions milliard milliards était sera chaque entre ni aussi a ont sur dans"),
		feminineEndings: table("tion tions sion sions ité ités ée ées euse euses ette ettes ance ances ence ences ure ures ie ies elle elles trice trices"),
	},
	ordinals: ordinals{first: []string{"premier"}, endings: changes("cinq cinquième, neuf neuvième, vingts vingtième, cents centième, e ième, - ième"),
		suffixes: pairs("er premier, re première, ère première, nd second, nde seconde, e m, ème m, eme m, è m, ième m")},
	times: times{use: feminine, minutes: feminine, hours: [2]string{" heure", " heures"}, and: " ", late: " "},
	of:    " de ", ofVowel: " d'", firstDay: "premier",
	months: table("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
	point:  "virgule", minus: "moins", to: "à", numberWord: "numéro", per: "par", codes: table("code pin"),
	hourWords: []string{"heures", "heure", "h.", "h"},
	signs: pairs(`@ arobase, . point, - tiret, _ tiret bas, / slash, : deux points,
		& et, = égale, < inférieur à, > supérieur à, × fois, ÷ divisé par, ~ environ, § paragraphe, ° degrés, + plus`),
	moneyAnd: "et", scales: table("mille million millions milliard milliards"),
	units: units(`% pour_cent =, € euro euros centime centimes, $ dollar dollars cent cents, £ livre-sterling livres-sterling penny pence,
		CHF franc_suisse francs_suisses centime centimes, BRL réal réaux centavo centavos, ¥ yen yens, MXN peso pesos centavo centavos,
		km/h kilomètre_par_heure kilomètres_par_heure, km kilomètre, m² mètre_carré mètres_carrés, m mètre, cm centimètre, mm millimètre, kg kilo, g gramme,
		mg milligramme, l litre, ml millilitre, GB gigaoctet, MB mégaoctet, h heure, min minute, °C degré,
		km² kilomètre_carré kilomètres_carrés, m³ mètre_cube mètres_cubes, kW kilowatt, kWh kilowattheure`),
	halfOf:    "une demi",
	fractions: pairs("1/2 un demi, 1/3 un tiers, 2/3 deux tiers, 1/4 un quart, 3/4 trois quarts, 24/7 vingt-quatre sept"),
}
