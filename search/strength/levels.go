package strength

// levels are the skill levels: the rating, the nodes, the moves found and the spread
// of the draw. The ratings of levels 0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18 were
// measured; those between them are on the line, the others carry it on.
var levels = [FullSkill]level{
	{-1012, Limit{2500, 30, 1600}},
	{-990, Limit{2500, 30, 1000}},
	{-825, Limit{2500, 24, 700}},
	{-700, Limit{2500, 20, 520}},
	{-526, Limit{2500, 16, 400}},
	{-194, Limit{770, 10, 300}},
	{-107, Limit{850, 8, 230}},
	{-15, Limit{1000, 7, 180}},
	{77, Limit{1200, 7, 150}},
	{202, Limit{1400, 7, 120}},
	{327, Limit{1700, 6, 93}},
	{434, Limit{2000, 6, 74}},
	{542, Limit{2400, 6, 59}},
	{644, Limit{2800, 5, 47}},
	{747, Limit{3400, 5, 37}},
	{842, Limit{4000, 4, 30}},
	{936, Limit{4800, 4, 24}},
	{1046, Limit{5700, 4, 19}},
	{1155, Limit{6700, 3, 15}},
	{1264, Limit{8000, 3, 12}},
}
