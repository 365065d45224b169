package strength

// levels are the skill levels: the rating, the nodes, the moves found and the spread
// of the draw. docs/experiments/strength-limit.md has how the ratings were measured.
var levels = [FullSkill]level{
	{-932, Limit{2500, 30, 1600}},
	{-834, Limit{2500, 30, 1000}},
	{-680, Limit{2500, 24, 700}},
	{-503, Limit{2500, 20, 520}},
	{-281, Limit{2500, 16, 400}},
	{1, Limit{770, 10, 300}},
	{125, Limit{850, 8, 230}},
	{252, Limit{1000, 7, 180}},
	{290, Limit{1200, 7, 150}},
	{382, Limit{1400, 7, 120}},
	{506, Limit{1700, 6, 93}},
	{564, Limit{2000, 6, 74}},
	{608, Limit{2400, 6, 59}},
	{702, Limit{2800, 5, 47}},
	{754, Limit{3400, 5, 37}},
	{766, Limit{4000, 4, 30}},
	{829, Limit{4800, 4, 24}},
	{875, Limit{5700, 4, 19}},
	{976, Limit{6700, 3, 15}},
	{1040, Limit{8000, 3, 12}},
}
