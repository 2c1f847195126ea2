"""The fixed words of reports, in both languages."""

from typing import Literal

from wirespeed.model.text import Text

SEVERITY: dict[str, Text] = {
    "high": Text(en="high", zh="严重"),
    "medium": Text(en="medium", zh="中等"),
    "low": Text(en="low", zh="轻微"),
    "info": Text(en="info", zh="提示"),
}
TONE_OF_SEVERITY: dict[str, Literal["plain", "good", "warn", "bad"]] = {
    "high": "bad",
    "medium": "warn",
    "low": "plain",
    "info": "plain",
}
PROOF = Text(en="Proof", zh="证据")
AGAINST = Text(en="speaks against it", zh="反面证据")
FIX = Text(en="Fix", zh="修复")
VERIFY = Text(en="Verify", zh="验证")
GAIN = Text(en="Expected gain", zh="预期收益")
NOT_TO_CONFUSE = Text(en="Not to be confused with", zh="易混淆的原因")
EXPLAINS = Text(en="Explains", zh="解释了")
RISK = Text(en="Risk", zh="风险")
SURE = Text(en="sure", zh="把握")
FOR_SIDE: dict[str, Text] = {
    "both": Text(en="", zh=""),
    "training": Text(en="training", zh="训练"),
    "serving": Text(en="serving", zh="推理"),
}
BEFORE = Text(en="before", zh="之前")
AFTER = Text(en="after", zh="之后")
DIFFERENCE = Text(en="difference", zh="差值")
LESS_OR_MORE = Text(en="← less │ more →", zh="← 减少 │ 增加 →")
