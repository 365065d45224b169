package strength

// levels are the skill levels: the rating, the nodes, the moves found and the spread
// of the draw. docs/experiments/strength-limit.md has how the ratings were measured.
var levels = [FullSkill]level{
	{-923, Limit{2500, 30, 1600}},
	{-820, Limit{2500, 30, 1000}},
	{-696, Limit{2500, 24, 700}},
	{-574, Limit{2500, 20, 520}},
	{-400, Limit{2500, 16, 400}},
	{-34, Limit{770, 10, 300}},
	{90, Limit{850, 8, 230}},
	{192, Limit{1000, 7, 180}},
	{263, Limit{1200, 7, 150}},
	{348, Limit{1400, 7, 120}},
	{469, Limit{1700, 6, 93}},
	{586, Limit{2000, 6, 74}},
	{694, Limit{2400, 6, 59}},
	{808, Limit{2800, 5, 47}},
	{860, Limit{3400, 5, 37}},
	{932, Limit{4000, 4, 30}},
	{978, Limit{4800, 4, 24}},
	{1048, Limit{5700, 4, 19}},
	{1173, Limit{6700, 3, 15}},
	{1209, Limit{8000, 3, 12}},
}
